import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";
import type { CallFacts } from "../call-facts.ts";
import { type CheckOptions, type ExpressionFlaw, flawOf } from "./expression-check.ts";
import { compilePart } from "./expression-compile.ts";
import { type Guard, guardOf, pathOf } from "./guard.ts";
import { occurs } from "./patterns.ts";
import { keysOf, number, truth } from "./strict-values.ts";

/** A condition of a rule, ready to be judged. */
export interface Expression {
  /** Strictly true or false. Throws if the condition cannot be judged. */
  holds(facts: Partial<CallFacts>): boolean;
  /** The members that it reads, such as `args.amount`. */
  readonly reads: readonly (readonly string[])[];
  /** It does not hold where this does not; undefined if there is no such comparison. */
  readonly guard: Guard | undefined;
}

export type Compiled =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly flaw: ExpressionFlaw };

const LONGEST = 4_000;
const LIMITS = { maxAstNodes: 1_000, maxDepth: 50 };

const checking = withVariables(new Environment({ limits: LIMITS }))
  .registerFunction("re2(string, string): bool", occurs)
  .registerFunction("number(dyn): double", number)
  .registerFunction("keys(dyn): list<string>", keysOf);

function withVariables(environment: Environment): Environment {
  return environment
    .registerVariable("args", "map<string, dyn>")
    .registerVariable("state", "map<string, dyn>")
    .registerVariable("agent", "string")
    .registerVariable("app", "string")
    .registerVariable("tool", {
      schema: { name: "string", server: "string", annotations: "map<string, dyn>" },
    })
    .registerVariable("user", { schema: { id: "string", roles: "list<string>", authenticated: "bool" } })
    .registerVariable("time", {
      schema: {
        date: "string",
        weekday: "string",
        year: "int",
        month: "int",
        day: "int",
        hour: "int",
        minute: "int",
      },
    });
}

/** Compiles a condition. Everything that can be known of it before a call is checked here. */
export function compileExpression(text: string, options: CheckOptions = { plain: false }): Compiled {
  if (text.length > LONGEST)
    return { ok: false, flaw: { offset: 0, message: `a condition may have at most ${LONGEST} characters` } };
  try {
    const parsed = checking.parse(text);
    const flaw = flawOf(parsed.ast, options) ?? flawOfType(parsed);
    if (flaw !== undefined) return { ok: false, flaw };
    return { ok: true, expression: toExpression(parsed.ast) };
  } catch (error) {
    return { ok: false, flaw: toFlaw(error) };
  }
}

function flawOfType(parsed: ParseResult): ExpressionFlaw | undefined {
  const { valid, type, error } = parsed.check();
  if (!valid) return toFlaw(error);
  // The type of an argument is known only at the call; there it must be a boolean.
  if (type === "bool" || type === "dyn") return undefined;
  return { offset: 0, message: `the condition is a ${type}; it must be true or false` };
}

function toFlaw(error: unknown): ExpressionFlaw {
  const { range, summary, message } = error as {
    readonly range?: { readonly start: number };
    readonly summary?: string;
    readonly message?: string;
  };
  return { offset: range?.start ?? 0, message: summary ?? message ?? "the condition cannot be read" };
}

function toExpression(ast: ASTNode): Expression {
  const whole = compilePart(ast);
  return {
    holds: (facts) => truth(whole(facts)),
    reads: readsOf(ast),
    guard: guardOf(ast),
  };
}

/** The longest member paths that begin at a variable, each once. */
function readsOf(ast: ASTNode): readonly (readonly string[])[] {
  const found = new Map<string, readonly string[]>();
  collect(ast, new Set(), found);
  return [...found.values()];
}

function collect(node: ASTNode, bound: ReadonlySet<string>, found: Map<string, readonly string[]>): void {
  const path = pathOf(node);
  if (path !== undefined) {
    if (!bound.has(path[0] ?? "")) found.set(path.join("."), path);
    return;
  }
  if (node.op === "rcall" && node.args[2][0]?.op === "id" && node.args[2].length > 1) {
    const [, receiver, [variable, ...bodies]] = node.args;
    collect(receiver, bound, found);
    const inner = new Set([...bound, variable?.op === "id" ? variable.args : ""]);
    for (const body of bodies) collect(body, inner, found);
    return;
  }
  for (const child of childrenOf(node)) collect(child, bound, found);
}

function childrenOf({ args }: ASTNode): readonly ASTNode[] {
  const all: readonly unknown[] = Array.isArray(args) ? args.flat(2) : [args];
  return all.filter(
    (child): child is ASTNode => typeof child === "object" && child !== null && "op" in child,
  );
}
