import type { PolicySource } from "../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { YamlSource } from "../yaml/index.ts";
import { type CallKind, type Team, USUAL_TEAM } from "./scenario.ts";

/**
 * The calls in the policy's own tests, all equally often, together one per agent and day. Throws `invalid-option` if it
 * has no tests.
 */
export function callsOfTests(file: string, text: string): readonly CallKind[] {
  const source = new YamlSource(file, text);
  const [root] = source.documents;
  const policy = root && source.json(root, "the policy");
  const tests = isJsonObject(policy) ? policy["tests"] : undefined;
  const calls = Array.isArray(tests) ? tests.filter(isJsonObject).flatMap((test) => toCall(test) ?? []) : [];
  if (calls.length === 0) {
    throw new CountersignError(
      "invalid-option",
      `The policy "${file}" has no tests, so it does not say which calls there are. Describe them in a scenario file (--scenario FILE).`,
      { details: { field: "scenario" } },
    );
  }
  return calls.map((call) => ({ ...call, perAgentPerDay: 1 / calls.length }));
}

function toCall({ tool, app, args }: JsonObject): Omit<CallKind, "perAgentPerDay"> | undefined {
  if (typeof tool !== "string") return undefined;
  const given = isJsonObject(args) ? Object.entries(args) : [];
  return {
    tool,
    app: typeof app === "string" ? app : "app",
    args: Object.fromEntries(given.map(([name, value]) => [name, { kind: "fixed", value }])),
  };
}

/**
 * The people whom a policy names: each user once, and its roles in equal parts. A policy that names nobody gets one team.
 */
export function teamsOf(policy: PolicySource, approvers: number): readonly Team[] {
  const { users, roles } = namedIn(JSON.parse(policy.text) as JsonValue);
  const named = users.slice(0, approvers);
  const left = approvers - named.length;
  const teams: Team[] = named.map((user) => ({
    ...USUAL_TEAM,
    name: user,
    people: 1,
    users: [user],
    roles: [],
  }));
  const kinds = roles.length > 0 ? roles : users.length > 0 ? [] : [undefined];
  for (const [index, role] of kinds.entries()) {
    const people = Math.floor(left / kinds.length) + (index < left % kinds.length ? 1 : 0);
    const about = { name: role ?? "approvers", people, users: [], roles: role === undefined ? [] : [role] };
    if (people > 0) teams.push({ ...USUAL_TEAM, ...about });
  }
  return teams;
}

interface Named {
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

/** Everybody who is a member of a group, must approve, or is escalated to. */
function namedIn(policy: JsonValue): Named {
  const { groups = {}, rules = [] } = isJsonObject(policy) ? policy : {};
  const names = isJsonObject(groups) ? Object.keys(groups) : [];
  const members = isJsonObject(groups) ? Object.values(groups).flat() : [];
  const asked = (Array.isArray(rules) ? rules : [])
    .filter(isJsonObject)
    .flatMap(({ require, escalate }) => [...membersOf(require, "from"), ...membersOf(escalate, "to")]);
  // A plain name is a user in a group, and a group in a rule.
  const plain = asked.filter((name) => name.includes(":"));
  const all = [...members.filter((name) => typeof name === "string"), ...plain].filter(
    (name) => !names.includes(name),
  );
  const roles = all.flatMap((name) => (name.startsWith("role:") ? [name.slice("role:".length)] : []));
  const users = all.flatMap((name) => (/^(role|group):/.test(name) ? [] : [name.replace(/^user:/, "")]));
  return { users: [...new Set(users)], roles: [...new Set(roles)] };
}

function membersOf(list: JsonValue | undefined, member: "from" | "to"): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap((entry) => {
    const name = entry[member];
    return typeof name === "string" ? [name] : [];
  });
}
