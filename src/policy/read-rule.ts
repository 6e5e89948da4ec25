import type { Approvers } from "../engine/index.ts";
import { flawOfGlob } from "../protocol/index.ts";
import { isScalar, isSeq, type Members, type Node, type YamlSource } from "../yaml/index.ts";
import { compileExpression, type Expression } from "./conditions/expression.ts";
import { oneOf } from "./one-of.ts";
import type { PolicyRule, RuleMatch } from "./policy-rule.ts";
import { ASKING_MEMBERS, readAsking } from "./read-asking.ts";

/** What a rule's names may refer to. */
export interface RuleScope {
  readonly groups: ReadonlyMap<string, Approvers>;
  readonly persons: ReadonlyMap<string, string>;
  /** The channels that there are, if that is known. */
  readonly channels?: ReadonlySet<string> | undefined;
}

const OWN_MEMBERS = ["id", "reason", "match", "when", "unless", "then", "mode"] as const;
export const RULE_MEMBERS: readonly ((typeof OWN_MEMBERS)[number] | (typeof ASKING_MEMBERS)[number])[] = [
  ...OWN_MEMBERS,
  ...ASKING_MEMBERS,
];
export const MATCH_MEMBERS = ["tool", "app", "agent", "user", "mcpServer", "annotations"] as const;
/** The annotations of MCP, and what a server means that does not set them. */
export const ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;
export const ID: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/** Reads one rule. Problems are kept in the source. */
export function readRule(source: YamlSource, node: Node, scope: RuleScope): PolicyRule | undefined {
  const { length: before } = source.problems;
  const members = source.map(node, "a rule", RULE_MEMBERS);
  if (members === undefined) return undefined;
  const id = readId(source, members);
  const what = `rule ${id ?? "?"}`;
  const outcome = oneOf(source, members.need("then"), `${what}: then`, ["allow", "confirm", "deny"]);
  const mode = oneOf(source, members.get("mode"), `${what}: mode`, ["enforce", "observe"]);
  const reason = members.text("reason");
  const match = readMatch(source, members.get("match"), `${what}: match`);
  const when = readCondition(source, members.get("when"), `${what}: when`);
  const unless = readCondition(source, members.get("unless"), `${what}: unless`);
  const asking = readAsking(source, members, { ...scope, what, outcome });
  if (id === undefined || outcome === undefined || source.problems.length > before) return undefined;
  return {
    id,
    ...(reason === undefined ? {} : { reason }),
    match,
    ...(when === undefined ? {} : { when }),
    ...(unless === undefined ? {} : { unless }),
    outcome,
    observe: mode === "observe",
    asking,
  };
}

function readId(source: YamlSource, members: Members): string | undefined {
  const id = members.needText("id");
  const node = members.get("id");
  if (id === undefined || node === undefined || ID.test(id)) return id;
  return source.problem(node, `the id "${id}" must be letters, digits, dots and dashes, at most 80`);
}

function readMatch(source: YamlSource, node: Node | undefined, what: string): RuleMatch {
  const members = node && source.map(node, what, MATCH_MEMBERS);
  if (members === undefined) return {};
  const globs = MATCH_MEMBERS.filter((name) => name !== "annotations").flatMap((name) => {
    const value = members.get(name);
    return value === undefined ? [] : [[name, readGlobs(source, value, `${what}.${name}`)] as const];
  });
  const annotations = readAnnotations(source, members.get("annotations"), `${what}.annotations`);
  return { ...Object.fromEntries(globs), ...(annotations === undefined ? {} : { annotations }) };
}

function readGlobs(source: YamlSource, node: Node, what: string): readonly string[] {
  const read = (entry: Node): string | undefined => {
    const text = source.text(entry, what);
    const flaw = text === undefined ? undefined : flawOfGlob(text);
    return flaw === undefined ? text : source.problem(entry, `${what} ${flaw}`);
  };
  const globs = isSeq(node)
    ? source.list(node, what, read)
    : [read(node)].filter((glob) => glob !== undefined);
  if (isSeq(node) && node.items.length === 0)
    source.problem(node, `${what} is empty, so nothing would match`);
  return globs;
}

function readAnnotations(source: YamlSource, node: Node | undefined, what: string): RuleMatch["annotations"] {
  const members = node && source.map(node, what, Object.keys(ANNOTATIONS));
  if (members === undefined) return undefined;
  const wanted = Object.keys(ANNOTATIONS).flatMap((name) => {
    const value = members.flag(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(wanted);
}

function readCondition(source: YamlSource, node: Node | undefined, what: string): Expression | undefined {
  if (node === undefined) return undefined;
  // `when: true` is a boolean in YAML, and a condition all the same.
  const text =
    isScalar(node) && typeof node.value === "boolean" ? String(node.value) : source.text(node, what);
  if (text === undefined) return undefined;
  const compiled = compileExpression(text);
  if (compiled.ok) return compiled.expression;
  return source.problemIn(node, compiled.flaw.offset, `${what}: ${compiled.flaw.message}`);
}
