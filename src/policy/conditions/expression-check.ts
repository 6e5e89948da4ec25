import type { ASTNode } from "@marcbachmann/cel-js";
import { flawOfPattern } from "./patterns.ts";

/** Why an expression is refused, and where in its text. */
export interface ExpressionFlaw {
  readonly offset: number;
  readonly message: string;
}

/** What an expression may read. */
export const VARIABLES: ReadonlySet<string> = new Set([
  "args",
  "tool",
  "user",
  "agent",
  "app",
  "state",
  "time",
]);

/** Loops over a list. */
export const LOOPS: ReadonlySet<string> = new Set(["exists", "all", "exists_one", "map", "filter"]);

const FUNCTIONS: ReadonlySet<string> = new Set(["has", "size", "re2", "number", "keys"]);
const METHODS: ReadonlySet<string> = new Set(["size", "startsWith", "endsWith", "contains"]);
const OPERATORS: ReadonlySet<string> = new Set("== != in + - * / % < <= > >= && || ?:".split(" "));
const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%"]);
const ORDER: ReadonlySet<string> = new Set(["<", "<=", ">", ">="]);
const MOST_LOOPS = 2;

interface Scope extends CheckOptions {
  readonly loops: number;
  readonly names: ReadonlySet<string>;
}

/** How strict the check is. */
export interface CheckOptions {
  /** Without loops and patterns: for conditions that are not written by the operator of the server. */
  readonly plain: boolean;
}

/**
 * The first part of a parsed expression that rules may not use. Only what is listed here passes: the library computes
 * the rest wrongly (unsigned integers, bytes, dates, integers over 2^53, maps whose keys are no strings, `type(null)`),
 * or it can take too long (`matches`, loops more than two deep).
 */
export function flawOf(ast: ASTNode, { plain }: CheckOptions): ExpressionFlaw | undefined {
  return check(ast, { loops: 0, names: VARIABLES, plain });
}

function check(node: ASTNode, scope: Scope): ExpressionFlaw | undefined {
  switch (node.op) {
    case "value":
      return checkLiteral(node);
    case "id":
      return scope.names.has(node.args) ? undefined : unknownName(node, scope);
    case ".":
      return check(node.args[0], scope);
    case "[]":
    case "list":
      return first(node.args, scope);
    case "map":
      return checkMap(node, scope);
    case "!_":
    case "-_":
      return check(node.args, scope);
    case "call":
      return checkCall(node, scope);
    case "rcall":
      return checkMethod(node, scope);
    default:
      return checkOperator(node, scope);
  }
}

function first(nodes: readonly ASTNode[], scope: Scope): ExpressionFlaw | undefined {
  for (const node of nodes) {
    const flaw = check(node, scope);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function refused(node: ASTNode, message: string): ExpressionFlaw {
  return { offset: node.start, message };
}

function unknownName(node: ASTNode & { readonly op: "id" }, { names }: Scope): ExpressionFlaw {
  return refused(node, `"${node.args}" is not known; use ${[...names].join(", ")}`);
}

function checkLiteral(node: ASTNode & { readonly op: "value" }): ExpressionFlaw | undefined {
  const { args: value } = node;
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string")
    return value.isWellFormed() ? undefined : refused(node, "the text has half of a character pair");
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : refused(node, "the number is too large");
  if (typeof value === "bigint") {
    const safe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
    return safe ? undefined : refused(node, "integers must be smaller than 2^53");
  }
  return refused(node, "bytes and unsigned integers are not available");
}

function checkMap(node: ASTNode & { readonly op: "map" }, scope: Scope): ExpressionFlaw | undefined {
  const keys = new Set<unknown>();
  for (const [key, value] of node.args) {
    if (key.op !== "value" || typeof key.args !== "string")
      return refused(key, 'the keys of a map must be texts, for example { "EUR": 1000.0 }');
    if (keys.has(key.args)) return refused(key, `the map has "${key.args}" twice`);
    keys.add(key.args);
    const flaw = check(key, scope) ?? check(value, scope);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function checkCall(node: ASTNode & { readonly op: "call" }, scope: Scope): ExpressionFlaw | undefined {
  const [name, args] = node.args;
  if (!FUNCTIONS.has(name)) return refused(node, `${name}() is not available; ${available()}`);
  if (name === "has") {
    const [field] = args;
    if (args.length !== 1 || field?.op !== ".")
      return refused(node, "has() takes one member, for example has(args.amount)");
  }
  if (name === "re2") {
    // Before the pattern is compiled.
    if (scope.plain) return notPlain(node, name);
    const flaw = checkPattern(node, args);
    if (flaw !== undefined) return flaw;
  }
  return first(args, scope);
}

function checkPattern(node: ASTNode, args: readonly ASTNode[]): ExpressionFlaw | undefined {
  const [, pattern] = args;
  if (args.length !== 2 || pattern?.op !== "value" || typeof pattern.args !== "string")
    return refused(node, 're2() takes a text and a pattern in quotes, for example re2(args.path, "^/etc/")');
  const flaw = flawOfPattern(pattern.args);
  return flaw === undefined ? undefined : refused(pattern, flaw);
}

function checkMethod(node: ASTNode & { readonly op: "rcall" }, scope: Scope): ExpressionFlaw | undefined {
  const [name, receiver, args] = node.args;
  if (name === "matches") return refused(node, 'matches() is not available; use re2(text, "pattern")');
  if (METHODS.has(name)) return check(receiver, scope) ?? first(args, scope);
  if (!LOOPS.has(name)) return refused(node, `${name}() is not available; ${available()}`);
  if (scope.plain) return notPlain(node, name);
  const [variable, ...bodies] = args;
  if (variable?.op !== "id") return refused(node, `${name}() takes a name and a condition`);
  if (scope.names.has(variable.args)) return refused(variable, `"${variable.args}" is already used`);
  if (scope.loops === MOST_LOOPS) return refused(node, "loops may be at most two deep");
  const inner = { ...scope, loops: scope.loops + 1, names: new Set([...scope.names, variable.args]) };
  // A loop over the result of a loop takes as long as one inside the other.
  return check(receiver, { ...scope, loops: scope.loops + 1 }) ?? first(bodies, inner);
}

function notPlain(node: ASTNode, name: string): ExpressionFlaw {
  return refused(node, `${name}() is not available in the condition of a grant; write it into a rule`);
}

function available(): string {
  return `use ${[...FUNCTIONS, ...METHODS, ...LOOPS].map((name) => `${name}()`).join(", ")}`;
}

function checkOperator(node: ASTNode, scope: Scope): ExpressionFlaw | undefined {
  if (!OPERATORS.has(node.op)) return refused(node, `the operator ${node.op} is not available`);
  const operands = node.args as readonly ASTNode[];
  if (ARITHMETIC.has(node.op)) {
    const whole = operands.find(isWhole);
    if (whole !== undefined && operands.some(isData))
      return refused(whole, "arguments are decimal numbers; write 2.0 instead of 2");
  }
  if (ORDER.has(node.op)) {
    const text = operands.find(({ op, args }) => op === "value" && typeof args === "string");
    if (text !== undefined) return refused(text, `${node.op} compares numbers only`);
  }
  return first(operands, scope);
}

function isWhole(node: ASTNode): boolean {
  return node.op === "-_" ? isWhole(node.args) : node.op === "value" && typeof node.args === "bigint";
}

// What the checker cannot know the type of: a member of the arguments or the state.
function isData(node: ASTNode): boolean {
  if (node.op === "." || node.op === "[]") return isData(node.args[0]);
  return node.op === "id" && (node.args === "args" || node.args === "state");
}
