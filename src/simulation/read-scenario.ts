import type { JsonValue } from "../protocol/index.ts";
import { isMap, isScalar, type Members, type Node, problemsError, YamlSource } from "../yaml/index.ts";
import type { Spread } from "./random.ts";
import {
  type ArgValue,
  type CallKind,
  type Scenario,
  type Team,
  USUAL_HOURS,
  USUAL_TEAM,
  USUAL_WEEKDAYS,
} from "./scenario.ts";

/** What a file says of a scenario. What it leaves out is the caller's to fill in. */
export interface ScenarioFile extends Pick<Scenario, "hours" | "weekdays"> {
  readonly agents?: number;
  readonly days?: number;
  readonly start?: number;
  readonly calls?: readonly CallKind[];
  readonly teams?: readonly Team[];
}

const MEMBERS = ["agents", "days", "start", "calls", "hours", "weekdays", "teams"] as const;
const CALL_MEMBERS = ["tool", "app", "perAgentPerDay", "args"] as const;
const TEAM_MEMBERS = [
  "name",
  "people",
  "users",
  "roles",
  "days",
  "from",
  "to",
  "utcOffset",
  "absent",
  "reaction",
  "handling",
  "approves",
  "grants",
] as const;
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const HOURS_A_DAY = 24;

/** Reads a scenario file. Throws `invalid-option` with every problem and its line and column. */
export function readScenario(name: string, text: string): ScenarioFile {
  const source = new YamlSource(name, text, { refuseNulls: true });
  const [root] = source.documents;
  const read = root && readRoot(source, root);
  if (read === undefined || source.problems.length > 0) throw problemsError(source.problems);
  return read;
}

function readRoot(source: YamlSource, root: Node): ScenarioFile | undefined {
  const members = source.map(root, "a scenario", MEMBERS);
  if (members === undefined) return undefined;
  const count = (member: string): number | undefined => {
    const node = members.get(member);
    return node && source.count(node, member);
  };
  const [agents, days, start] = [count("agents"), count("days"), readDate(source, members.get("start"))];
  const hours = readWeights(source, members.get("hours"), { what: "hours", length: HOURS_A_DAY });
  const weekdays = readWeights(source, members.get("weekdays"), {
    what: "weekdays",
    length: WEEKDAYS.length,
  });
  const calls = readAll(source, members.get("calls"), "calls", readCall);
  const teams = readAll(source, members.get("teams"), "teams", readTeam);
  return {
    hours: hours ?? USUAL_HOURS,
    weekdays: weekdays ?? USUAL_WEEKDAYS,
    ...(agents === undefined ? {} : { agents }),
    ...(days === undefined ? {} : { days }),
    ...(start === undefined ? {} : { start }),
    ...(calls === undefined ? {} : { calls }),
    ...(teams === undefined ? {} : { teams }),
  };
}

function readAll<T>(
  source: YamlSource,
  node: Node | undefined,
  what: string,
  read: (source: YamlSource, node: Node) => T | undefined,
): readonly T[] | undefined {
  const list = node && source.list(node, what, (entry) => read(source, entry));
  if (node !== undefined && list?.length === 0) source.problem(node, `${what} must not be empty`);
  return list;
}

function readCall(source: YamlSource, node: Node): CallKind | undefined {
  const members = source.map(node, "a call", CALL_MEMBERS);
  const tool = members?.needText("tool");
  const perAgentPerDay = members && readNumber(source, members.need("perAgentPerDay"), "perAgentPerDay");
  if (members === undefined || tool === undefined || perAgentPerDay === undefined) return undefined;
  const given = members.get("args");
  const args = given === undefined ? [] : source.entries(given, "args");
  return {
    tool,
    app: members.text("app") ?? "app",
    perAgentPerDay,
    args: Object.fromEntries(args.flatMap(([name, value]) => readArg(source, name, value))),
  };
}

function readArg(source: YamlSource, name: string, node: Node): readonly (readonly [string, ArgValue])[] {
  const value = source.json(node, `args.${name}`);
  if (value === undefined) return [];
  if (isMap(node) && node.has("oneOf")) {
    const members = source.map(node, `args.${name}`, ["oneOf"]);
    const list = members?.get("oneOf");
    const values =
      list && source.list<JsonValue>(list, "oneOf", (entry) => source.json(entry, "an entry of oneOf"));
    return values === undefined || values.length === 0 ? [] : [[name, { kind: "one-of", values }]];
  }
  if (isMap(node) && node.has("median")) {
    const spread = readSpread(source, node, { what: `args.${name}`, read: readNumber });
    return spread === undefined ? [] : [[name, { kind: "spread", spread }]];
  }
  return [[name, { kind: "fixed", value }]];
}

function readTeam(source: YamlSource, node: Node): Team | undefined {
  const members = source.map(node, "a team", TEAM_MEMBERS);
  const name = members?.needText("name");
  if (members === undefined || name === undefined) return undefined;
  const users = members.texts("users") ?? [];
  const given = members.get("people");
  const people = given === undefined ? users.length : source.count(given, `people of ${name}`);
  if (people === 0) source.problem(node, `the team ${name} needs people or users`);
  const spread = (member: "reaction" | "handling"): Spread | undefined => {
    const found = members.get(member);
    return found && readSpread(source, found, { what: `${member} of ${name}`, read: readDuration });
  };
  return {
    ...USUAL_TEAM,
    name,
    people: Math.max(people ?? 1, users.length),
    users,
    roles: members.texts("roles") ?? [],
    days: readDays(source, members) ?? USUAL_TEAM.days,
    ...numbersOf(source, members, name),
    reactionMs: spread("reaction") ?? USUAL_TEAM.reactionMs,
    handlingMs: spread("handling") ?? USUAL_TEAM.handlingMs,
  };
}

const LIMITS = {
  from: [0, 24],
  to: [0, 24],
  utcOffset: [-12, 14],
  absent: [0, 1],
  approves: [0, 1],
  grants: [0, 1],
} as const;

function numbersOf(source: YamlSource, members: Members, team: string): Partial<Team> {
  const found = Object.entries(LIMITS).flatMap(([member, [least, most]]) => {
    const node = members.get(member);
    const value = node && readNumber(source, node, `${member} of ${team}`, least);
    if (node === undefined || value === undefined) return [];
    if (value > most) source.problem(node, `${member} of ${team} must be at most ${most}`);
    return [[member, value] as const];
  });
  return Object.fromEntries(found);
}

function readDays(source: YamlSource, members: Members): readonly number[] | undefined {
  const node = members.get("days");
  return (
    node &&
    source.list(node, "days", (entry) => {
      const place = WEEKDAYS.findIndex((day) => isScalar(entry) && entry.value === day);
      return place === -1 ? source.problem(entry, `a day must be one of ${WEEKDAYS.join(", ")}`) : place;
    })
  );
}

function readWeights(
  source: YamlSource,
  node: Node | undefined,
  { what, length }: { readonly what: string; readonly length: number },
): readonly number[] | undefined {
  if (node === undefined) return undefined;
  const weights = source.list(node, what, (entry) => readNumber(source, entry, `a weight of ${what}`));
  const isUsable = weights.length === length && weights.some((weight) => weight > 0);
  return isUsable ? weights : source.problem(node, `${what} must be ${length} weights, not all of them 0`);
}

function readSpread(
  source: YamlSource,
  node: Node,
  {
    what,
    read,
  }: {
    readonly what: string;
    readonly read: (source: YamlSource, node: Node | undefined, what: string) => number | undefined;
  },
): Spread | undefined {
  const members = source.map(node, what, ["median", "p90"]);
  const median = members && read(source, members.need("median"), `${what}.median`);
  const p90 = members && read(source, members.need("p90"), `${what}.p90`);
  if (median === undefined || p90 === undefined) return undefined;
  if (median > 0 && p90 >= median) return { median, p90 };
  return source.problem(node, `${what} needs a median above 0, and a p90 that is not below it`);
}

function readNumber(source: YamlSource, node: Node | undefined, what: string, least = 0): number | undefined {
  if (node === undefined) return undefined;
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= least) return value;
  return source.problem(node, `${what} must be a number, ${least} or more`);
}

function readDuration(source: YamlSource, node: Node | undefined, what: string): number | undefined {
  return node && source.duration(node, what);
}

function readDate(source: YamlSource, node: Node | undefined): number | undefined {
  if (node === undefined) return undefined;
  const text: unknown = isScalar(node) ? node.value : undefined;
  const at = typeof text === "string" && /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? source.problem(node, "start must be a date, for example 2027-01-04") : at;
}
