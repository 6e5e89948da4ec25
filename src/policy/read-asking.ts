import type { GrantLimits } from "../engine/index.ts";
import { isScalar, type Members, type Node, type YamlSource } from "../yaml/index.ts";
import { compileArgsCondition } from "./conditions/args-condition.ts";
import type { Expression } from "./conditions/expression.ts";
import { readNamed } from "./groups.ts";
import { flawOfHint } from "./hint.ts";
import { oneOf } from "./one-of.ts";
import type { NamedPeople, RuleAsking } from "./policy-rule.ts";
import type { RuleScope } from "./read-rule.ts";

type AskingScope = RuleScope & { readonly what: string; readonly outcome: string | undefined };

/** What a rule may say about how it asks. */
export const ASKING_MEMBERS = [
  "hint",
  "require",
  "notRequester",
  "denials",
  "expires",
  "remind",
  "escalate",
  "amendable",
  "grants",
  "byMail",
  "notify",
] as const;

/** Reads how a rule of `confirm` asks. Other rules ask nobody, so there these members are problems. */
export function readAsking(source: YamlSource, members: Members, scope: AskingScope): RuleAsking {
  const { what, outcome } = scope;
  if (outcome !== undefined && outcome !== "confirm") {
    for (const name of ASKING_MEMBERS) {
      const node = members.get(name);
      if (node !== undefined) source.problem(node, `${what}: ${name} is only for rules with then: confirm`);
    }
    return { require: [] };
  }
  const notRequester = members.flag("notRequester");
  const require = readRequire(source, members.get("require"), { ...scope, notRequester });
  const expiresInMs = members.duration("expires");
  const escalate = readEscalate(source, members.get("escalate"), { ...scope, expiresInMs });
  const remind = readTimes(source, members.get("remind"), { what: `${what}: remind`, expiresInMs });
  return {
    require,
    ...defined("notRequester", notRequester),
    ...defined("denials", members.count("denials")),
    ...defined("expiresInMs", expiresInMs),
    ...defined("remindAfterMs", remind),
    ...defined("escalate", escalate),
    ...defined("amendable", members.texts("amendable")),
    ...readGrants(source, members.get("grants"), `${what}: grants`),
    ...defined("byMail", members.flag("byMail")),
    ...defined("notify", readNotify(source, members.get("notify"), scope)),
    ...defined("hint", readHint(source, members.get("hint"), `${what}: hint`)),
  };
}

function defined<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [name in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: Value };
}

function readHint(source: YamlSource, node: Node | undefined, what: string): string | undefined {
  const hint = node && source.text(node, what);
  if (node === undefined || hint === undefined) return undefined;
  const flaw = flawOfHint(hint);
  return flaw === undefined ? hint : source.problemIn(node, flaw.offset, `${what}: ${flaw.message}`);
}

/** Which channels are there is known where the file is loaded for them; elsewhere, every name is taken. */
function readNotify(
  source: YamlSource,
  node: Node | undefined,
  { what, channels }: AskingScope,
): readonly string[] | undefined {
  if (node === undefined) return undefined;
  return source.list(node, `${what}: notify`, (entry) => {
    const name = source.text(entry, `an entry of ${what}: notify`);
    if (name === undefined || channels === undefined || channels.has(name)) return name;
    const known = channels.size === 0 ? "none is configured" : `use one of ${[...channels].join(", ")}`;
    return source.problem(
      entry,
      `${what}: notify names the channel "${name}", which does not exist; ${known}`,
    );
  });
}

function readRequire(
  source: YamlSource,
  node: Node | undefined,
  scope: AskingScope & { readonly notRequester: boolean | undefined },
): RuleAsking["require"] {
  if (node === undefined) return [];
  const what = `${scope.what}: require`;
  return source.list(node, what, (entry) => {
    const members = source.map(entry, `an entry of ${what}`, ["from", "count"]);
    const named =
      members && readNamed(source, members.need("from"), { what: `${what}.from`, groups: scope.groups });
    if (members === undefined || named === undefined) return undefined;
    if (named.from === "requester" && scope.notRequester === true)
      return source.problem(
        members.get("from") ?? entry,
        `${what}.from is "requester", but notRequester says that the requester may not approve`,
      );
    const count = members.count("count") ?? 1;
    return isEnough(named, count, scope)
      ? { ...named, count }
      : source.problem(entry, `${what} asks for ${count} people, but "${named.group ?? "from"}" has fewer`);
  });
}

// Nobody knows here how many people have a role.
function isEnough({ from }: NamedPeople, count: number, { persons }: AskingScope): boolean {
  if (from === "requester") return count === 1;
  if (from.roles !== undefined && from.roles.length > 0) return true;
  return new Set(from.users?.map((login) => persons.get(login) ?? login)).size >= count;
}

function readEscalate(
  source: YamlSource,
  node: Node | undefined,
  scope: AskingScope & { readonly expiresInMs: number | undefined },
): RuleAsking["escalate"] | undefined {
  if (node === undefined) return undefined;
  const what = `${scope.what}: escalate`;
  return source.list(node, what, (entry) => {
    const members = source.map(entry, `an entry of ${what}`, ["after", "to"]);
    const named =
      members && readNamed(source, members.need("to"), { what: `${what}.to`, groups: scope.groups });
    if (named?.from === "requester")
      return source.problem(
        members?.get("to") ?? entry,
        `${what}.to is "requester", but the requester cannot fill in; name a group, role:NAME or user:NAME`,
      );
    const after = members?.need("after");
    const afterMs = after && readTime(source, after, { ...scope, what: `${what}.after` });
    return named === undefined || afterMs === undefined ? undefined : { ...named, afterMs };
  });
}

function readGrants(
  source: YamlSource,
  node: Node | undefined,
  what: string,
): Pick<RuleAsking, "grants" | "grantsIf"> {
  const members = node && source.map(node, what, ["longest", "count", "sum", "where", "scope"]);
  if (members === undefined) return {};
  const longest = members.need("longest");
  const forMs = longest && source.duration(longest, `${what}.longest`);
  const times = members.need("count");
  const count = times && source.count(times, `${what}.count`);
  const sum = readSum(source, members.get("sum"), `${what}.sum`);
  const where = readWhere(source, members.get("where"), `${what}.where`);
  if (forMs === undefined || count === undefined || sum === undefined || where === undefined) return {};
  const scope = oneOf(source, members.get("scope"), `${what}.scope`, ["session", "user"]);
  const { condition, ...conditions } = where;
  return {
    grants: { ...defined("scope", scope), forMs, count, ...sum, ...conditions },
    ...defined("grantsIf", condition),
  };
}

type Where = Pick<GrantLimits, "where"> & { readonly condition?: Expression };

/** Undefined if there is something wrong with it. */
function readWhere(source: YamlSource, node: Node | undefined, what: string): Where | undefined {
  if (node === undefined) return {};
  const text = source.text(node, what);
  if (text === undefined) return undefined;
  if (text.length > LONGEST_WHERE)
    return source.problem(node, `${what} may have at most ${LONGEST_WHERE} characters`);
  const compiled = compileArgsCondition(text);
  if (compiled.ok) return { where: [text], condition: compiled.expression };
  return source.problemIn(node, compiled.flaw.offset, `${what}: ${compiled.flaw.message}`);
}

const LONGEST_WHERE = 1_000;

const MOST_DIGITS = 15;

/** Undefined if there is something wrong with it. */
function readSum(
  source: YamlSource,
  node: Node | undefined,
  what: string,
): Pick<GrantLimits, "sum"> | undefined {
  if (node === undefined) return {};
  const members = source.map(node, what, ["arg", "most"]);
  const [arg, most] = [members?.needText("arg"), members?.need("most")];
  if (arg === undefined || most === undefined) return undefined;
  const value: unknown = isScalar(most) ? most.value : undefined;
  const text = typeof value === "number" ? String(value) : "";
  if (!/^\d+(\.\d+)?$/.test(text) || text.replace(".", "").length > MOST_DIGITS || value === 0)
    return source.problem(most, `${what}.most must be a number greater than 0 with at most 15 digits`);
  // Not a literal: an argument may be called `__proto__`.
  return { sum: Object.fromEntries([[arg, Number(text)]]) };
}

/** What is read, and when the question expires. */
interface TimeScope {
  readonly what: string;
  readonly expiresInMs: number | undefined;
}

function readTimes(
  source: YamlSource,
  node: Node | undefined,
  scope: TimeScope,
): readonly number[] | undefined {
  if (node === undefined) return undefined;
  if (isScalar(node)) {
    const one = readTime(source, node, scope);
    return one === undefined ? undefined : [one];
  }
  const { what } = scope;
  return source.list(node, what, (entry) =>
    readTime(source, entry, { ...scope, what: `an entry of ${what}` }),
  );
}

function readTime(source: YamlSource, node: Node, { what, expiresInMs }: TimeScope): number | undefined {
  const afterMs = source.duration(node, what);
  if (afterMs === undefined || expiresInMs === undefined || afterMs < expiresInMs) return afterMs;
  return source.problem(node, `${what} is not before expires, so it would never happen`);
}
