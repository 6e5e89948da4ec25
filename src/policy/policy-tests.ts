import type { PolicyCall, PolicySource } from "../engine/index.ts";
import { isJsonObject, type JsonObject } from "../protocol/index.ts";
import { isScalar, type Members, type Node, type YamlProblem, type YamlSource } from "../yaml/index.ts";
import { oneOf } from "./one-of.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { ANNOTATIONS } from "./read-rule.ts";

export const TEST_MEMBERS = [
  "tool",
  "args",
  "app",
  "agent",
  "user",
  "roles",
  "mcpServer",
  "annotations",
  "state",
  "at",
  "expect",
  "by",
] as const;

export const OUTCOMES = ["allow", "confirm", "deny"] as const;
type Outcome = (typeof OUTCOMES)[number];

/** A test of a policy file: a call, and what the policy must say to it. */
export interface PolicyTest {
  readonly call: PolicyCall;
  readonly expect: Outcome;
  /** The rule that must say so. */
  readonly by?: string;
  /** Reports that it failed. */
  fails(message: string): YamlProblem;
}

/** Reads one test. */
export function readTest(
  source: YamlSource,
  node: Node,
  rules: readonly PolicyRule[],
): PolicyTest | undefined {
  const { length: before } = source.problems;
  const members = source.map(node, "a test", TEST_MEMBERS);
  if (members === undefined) return undefined;
  const call = readCall(source, members);
  const expected = oneOf(source, members.need("expect"), "expect", OUTCOMES);
  const by = members.text("by");
  if (by !== undefined && !rules.some(({ id }) => id === by))
    source.problem(members.get("by") ?? node, `there is no rule ${by}`);
  if (call === undefined || expected === undefined || source.problems.length > before) return undefined;
  return {
    call,
    expect: expected,
    ...(by === undefined ? {} : { by }),
    fails: (message) => source.at(node, message),
  };
}

function readCall(source: YamlSource, members: Members): PolicyCall | undefined {
  const tool = members.needText("tool");
  const user = members.text("user") ?? "ana";
  const args = readObject(source, members.get("args"), "args");
  const annotations = readHints(source, members.get("annotations"));
  const server = members.text("mcpServer");
  if (tool === undefined) return undefined;
  return {
    entryPoint: "runner",
    app: members.text("app") ?? "app",
    agent: members.text("agent") ?? "agent",
    tool,
    args,
    shown: args,
    ...(annotations === undefined ? {} : { annotations }),
    ...(server === undefined ? {} : { source: server }),
    user,
    requesters: [user],
    roles: members.texts("roles") ?? [],
    authenticated: true,
    session: "test",
    state: readObject(source, members.get("state"), "state"),
    at: readMoment(source, members.get("at")),
  };
}

function readObject(source: YamlSource, node: Node | undefined, what: string): JsonObject {
  const value = node === undefined ? {} : source.json(node, what);
  if (node === undefined || value === undefined) return {};
  if (isJsonObject(value)) return value;
  source.problem(node, `${what} must be a map`);
  return {};
}

function readHints(source: YamlSource, node: Node | undefined): JsonObject | undefined {
  const members = node && source.map(node, "annotations", Object.keys(ANNOTATIONS));
  return node && members && readObject(source, node, "annotations");
}

// The same on every run: a Monday at noon, UTC.
const USUAL_MOMENT = Date.UTC(2026, 0, 5, 12);
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/;

function readMoment(source: YamlSource, node: Node | undefined): number {
  if (node === undefined) return USUAL_MOMENT;
  const text: unknown = isScalar(node) ? node.value : undefined;
  const moment = typeof text === "string" && MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(moment)) return moment;
  source.problem(node, "at must be a moment with its offset, for example 2026-01-05T22:30:00+01:00");
  return USUAL_MOMENT;
}

/** Runs the tests of a file. Every failed one is a problem, at the place of the test. */
export function runTests(policy: PolicySource, tests: readonly PolicyTest[]): readonly YamlProblem[] {
  return tests.flatMap((test) => {
    const message = failureOf(policy, test);
    return message === undefined ? [] : [test.fails(message)];
  });
}

function failureOf(policy: PolicySource, { call, expect, by }: PolicyTest): string | undefined {
  const said = [policy.judge(call) ?? []].flat().filter(({ observe }) => observe !== true);
  const outcome = (["deny", "confirm"] as const).find((word) =>
    said.some((verdict) => verdict.outcome === word),
  );
  const applied = said.filter((verdict) => verdict.outcome === (outcome ?? "allow"));
  if ((outcome ?? "allow") !== expect)
    return `the test expects ${expect}, but the policy says ${outcome ?? "allow"}: ${told(applied)}`;
  if (by === undefined || applied.some(({ rule }) => rule === by)) return undefined;
  return `the test expects ${expect} by ${by}, but it is by: ${told(applied)}`;
}

function told(applied: readonly { readonly reason: string }[]): string {
  return applied.length === 0 ? "no rule" : applied.map(({ reason }) => reason).join("; ");
}
