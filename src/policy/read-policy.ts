import { hash } from "node:crypto";
import { canonicalJson, isJsonObject } from "../protocol/index.ts";
import { type Node, type YamlProblem, YamlSource } from "../yaml/index.ts";
import { readGroups, readPeople } from "./groups.ts";
import { type TimeZone, timeZoneOf, UTC } from "./local-time.ts";
import type { PolicyRule } from "./policy-rule.ts";
import type { PolicyFile } from "./policy-source.ts";
import { type PolicyTest, readTest } from "./policy-tests.ts";
import { readRule } from "./read-rule.ts";

/** A file without problems, with its tests; or its problems. */
export type ReadPolicy =
  | { readonly ok: true; readonly file: PolicyFile; readonly tests: readonly PolicyTest[] }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

export const POLICY_MEMBERS = ["groups", "people", "timeZone", "voteMaxAge", "rules", "tests"] as const;
const LONGEST_FILE = 1_048_576;
const MOST_RULES = 10_000;

/** What a policy file may refer to outside of itself. */
export interface PolicySurroundings {
  /** The names of the channels, which `notify` refers to. Not given: every name is taken. */
  readonly channels?: readonly string[];
}

/** Reads a policy file. What is not understood is a problem, never left out. */
export function readPolicy(name: string, text: string, { channels }: PolicySurroundings = {}): ReadPolicy {
  if (text.length > LONGEST_FILE) return tooMuch(name, `the file has more than ${LONGEST_FILE} characters`);
  const source = new YamlSource(name, text, { refuseNulls: true });
  const [root, second] = source.documents;
  if (second !== undefined) source.problem(second, "a policy is one document; remove the second one");
  const read = root === undefined ? undefined : readRoot(source, root, channels && new Set(channels));
  if (read === undefined || source.problems.length > 0) return { ok: false, problems: source.problems };
  return { ok: true, ...read };
}

function tooMuch(file: string, message: string): ReadPolicy {
  return { ok: false, problems: [{ file, line: 1, column: 1, message }] };
}

function readRoot(
  source: YamlSource,
  root: Node,
  channels: ReadonlySet<string> | undefined,
): Omit<ReadPolicy & { ok: true }, "ok"> | undefined {
  const members = source.map(root, "a policy", POLICY_MEMBERS);
  const value = members && source.json(root, "the policy");
  if (members === undefined || value === undefined || !isJsonObject(value)) return undefined;
  const groups = readGroups(source, members.get("groups"));
  const persons = readPeople(source, members.get("people"));
  const zone = readZone(source, members.get("timeZone"));
  const voteMaxAgeMs = members.duration("voteMaxAge");
  const rules = readRules(source, members.need("rules"), { groups, persons, channels });
  const testList = members.get("tests");
  const tests =
    testList === undefined ? [] : source.list(testList, "tests", (node) => readTest(source, node, rules));
  const { tests: _, ...judged } = value;
  const canonical = canonicalJson(judged);
  return {
    file: {
      groups,
      persons,
      zone,
      rules,
      ...(voteMaxAgeMs === undefined ? {} : { voteMaxAgeMs }),
      text: canonical,
      version: hash("sha256", canonical, "base64url"),
    },
    tests,
  };
}

function readRules(
  source: YamlSource,
  node: Node | undefined,
  scope: Parameters<typeof readRule>[2],
): readonly PolicyRule[] {
  if (node === undefined) return [];
  const ids = new Set<string>();
  const rules = source.list(node, "rules", (entry) => {
    const rule = readRule(source, entry, scope);
    if (rule === undefined) return undefined;
    if (ids.has(rule.id)) return source.problem(entry, `there are two rules with the id ${rule.id}`);
    ids.add(rule.id);
    return rule;
  });
  if (rules.length > MOST_RULES) source.problem(node, `a policy may have at most ${MOST_RULES} rules`);
  return rules;
}

function readZone(source: YamlSource, node: Node | undefined): TimeZone {
  const name = node && source.text(node, "timeZone");
  if (node === undefined || name === undefined) return UTC;
  const zone = timeZoneOf(name);
  if (zone === undefined)
    source.problem(node, `the time zone "${name}" is not known; use a name such as Europe/Berlin`);
  return zone ?? UTC;
}
