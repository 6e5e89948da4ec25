import type { ASTNode } from "@marcbachmann/cel-js";
import type { CallFacts } from "../call-facts.ts";
import { LOOPS } from "./expression-check.ts";
import { loopOver } from "./expression-loops.ts";
import { pathOf } from "./guard.ts";
import { occurs } from "./patterns.ts";
import { ARITHMETIC, negative } from "./strict-arithmetic.ts";
import {
  at,
  keysOf,
  memberOf,
  number,
  numeric,
  present,
  same,
  sizeOf,
  text,
  truth,
  within,
} from "./strict-values.ts";

/** A part of a condition, ready to be judged: its value for a call. Throws if it has none. */
export type Part = (facts: Partial<CallFacts>) => unknown;

/** What the variables of loops are now, by name. A condition is judged to its end before it is judged again. */
export type LoopVariables = ReadonlyMap<string, { value: unknown }>;

const NO_LOOP: LoopVariables = new Map();

/**
 * Compiles a checked expression to functions, stricter than CEL: CEL says that `"5" == 5` is false, so an argument of a
 * wrong type would pass a deny rule; here that is an error, and errors fail closed.
 */
export function compilePart(node: ASTNode, loops: LoopVariables = NO_LOOP): Part {
  switch (node.op) {
    case "value": {
      const { args: value } = node;
      return () => value;
    }
    case "id":
      return compileName(node.args, loops);
    case ".": {
      const [on, name] = [compilePart(node.args[0], loops), node.args[1]];
      return (facts) => memberOf(on(facts), name);
    }
    case "list":
      return compileList(node.args, loops);
    case "map":
      return compileMap(node.args, loops);
    case "call":
      return compileCall(node.args, loops);
    case "rcall":
      return compileMethod(node.args, loops);
    default:
      return compileOperator(node, loops);
  }
}

function compileName(name: string, loops: LoopVariables): Part {
  const variable = loops.get(name);
  if (variable !== undefined) return () => variable.value;
  return (facts) => {
    const value = facts[name as keyof CallFacts];
    if (value === undefined) throw new TypeError(`Unknown variable: ${name}`);
    return value;
  };
}

function compileList(items: readonly ASTNode[], loops: LoopVariables): Part {
  const parts = items.map((item) => compilePart(item, loops));
  if (items.some(({ op }) => op !== "value")) return (facts) => parts.map((part) => part(facts));
  const list = parts.map((part) => part({}));
  return () => list;
}

function compileMap(entries: readonly (readonly [ASTNode, ASTNode])[], loops: LoopVariables): Part {
  const parts = entries.map(([key, value]) => [compilePart(key, loops), compilePart(value, loops)] as const);
  return (facts) => Object.fromEntries(parts.map(([key, value]) => [text(key(facts)), value(facts)]));
}

function compileCall([name, args]: readonly [string, readonly ASTNode[]], loops: LoopVariables): Part {
  const [first, second] = args;
  if (first === undefined) throw unknown(name);
  if (name === "has" && first.op === ".") {
    const [on, member] = [compilePart(first.args[0], loops), first.args[1]];
    return (facts) => present(on(facts), member);
  }
  if (name === "size") return compileSize(first, loops);
  const value = compilePart(first, loops);
  if (name === "keys") return (facts) => keysOf(value(facts));
  if (name === "number") return (facts) => number(value(facts));
  if (name !== "re2" || second === undefined) throw unknown(name);
  const pattern = compilePart(second, loops);
  return (facts) => occurs(text(value(facts)), text(pattern(facts)));
}

function compileSize(node: ASTNode, loops: LoopVariables): Part {
  const value = compileItems(node, loops);
  return (facts) => sizeOf(value(facts));
}

/** What is gone through or counted: of what is a map for certain, its keys. What a call gives must be a list. */
function compileItems(node: ASTNode, loops: LoopVariables): Part {
  const value = compilePart(node, loops);
  return isMap(node) ? (facts) => keysOf(value(facts)) : value;
}

const MAPS: ReadonlySet<string | undefined> = new Set(["args", "state", "tool.annotations"]);

function isMap(node: ASTNode): boolean {
  return node.op === "map" || MAPS.has(pathOf(node)?.join("."));
}

const TEXT_METHODS: { readonly [name: string]: (text: string, part: string) => boolean } = {
  startsWith: (all, part) => all.startsWith(part),
  endsWith: (all, part) => all.endsWith(part),
  contains: (all, part) => all.includes(part),
};

function compileMethod(
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  loops: LoopVariables,
): Part {
  if (LOOPS.has(name)) {
    const on = compileItems(receiver, loops);
    const [named, ...bodies] = args;
    const variable: { value: unknown } = { value: undefined };
    const inner = named?.op === "id" ? new Map([...loops, [named.args, variable]]) : loops;
    return loopOver({ name, on, variable, bodies: bodies.map((body) => compilePart(body, inner)) });
  }
  if (name === "size") return compileSize(receiver, loops);
  const [method, first] = [TEXT_METHODS[name], args[0]];
  if (method === undefined || first === undefined) throw unknown(name);
  const [on, part] = [compilePart(receiver, loops), compilePart(first, loops)];
  return (facts) => method(text(on(facts)), text(part(facts)));
}

function compileOperator(node: ASTNode, loops: LoopVariables): Part {
  if (node.op === "!_" || node.op === "-_") {
    const operand = compilePart(node.args, loops);
    return node.op === "!_" ? (facts) => !truth(operand(facts)) : (facts) => negative(operand(facts));
  }
  const nodes = node.args as readonly ASTNode[];
  if (node.op === "in") return compileIn(node.args, loops);
  const [a, b, c] = nodes.map((operand) => compilePart(operand, loops));
  if (a === undefined || b === undefined) throw unknown(node.op);
  if (node.op === "?:" && c !== undefined) return (facts) => (truth(a(facts)) ? b(facts) : c(facts));
  if (node.op === "==" || node.op === "!=") return compileSame(node.op === "==", nodes, [a, b]);
  const compile = OPERATORS[node.op];
  if (compile === undefined) throw unknown(node.op);
  return compile(a, b);
}

function compileIn([one, all]: readonly [ASTNode, ASTNode], loops: LoopVariables): Part {
  const [value, list] = [compilePart(one, loops), compilePart(all, loops)];
  return isMap(all)
    ? (facts) => present(list(facts), text(value(facts)))
    : (facts) => within(value(facts), list(facts));
}

// Only a comparison with null that is written down may find that something is null.
function compileSame(isSame: boolean, nodes: readonly ASTNode[], [a, b]: readonly [Part, Part]): Part {
  const [nullA, nullB] = nodes.map(({ op, args }) => op === "value" && args === null);
  if (nullA === true) return (facts) => (b(facts) === null) === isSame;
  if (nullB === true) return (facts) => (a(facts) === null) === isSame;
  return (facts) => same(a(facts), b(facts)) === isSame;
}

const OPERATORS: { readonly [operator: string]: (a: Part, b: Part) => Part } = {
  ...Object.fromEntries(
    Object.entries(ARITHMETIC).map(([operator, compute]) => [
      operator,
      (a: Part, b: Part): Part =>
        (facts) =>
          compute(a(facts), b(facts)),
    ]),
  ),
  "[]": (a, b) => (facts) => at(a(facts), b(facts)),
  "<": (a, b) => (facts) => numeric(a(facts)) < numeric(b(facts)),
  "<=": (a, b) => (facts) => numeric(a(facts)) <= numeric(b(facts)),
  ">": (a, b) => (facts) => numeric(a(facts)) > numeric(b(facts)),
  ">=": (a, b) => (facts) => numeric(a(facts)) >= numeric(b(facts)),
  "&&": (a, b) => settledBy(false, a, b),
  "||": (a, b) => settledBy(true, a, b),
};

/** Either side may settle it alone, as in CEL: then it does not matter that the other has no value. */
function settledBy(settles: boolean, a: Part, b: Part): Part {
  return (facts) => {
    let failure: unknown;
    try {
      if (truth(a(facts)) === settles) return settles;
    } catch (error) {
      failure = error;
    }
    if (truth(b(facts)) === settles) return settles;
    if (failure instanceof Error) throw failure;
    return !settles;
  };
}

function unknown(name: string): TypeError {
  return new TypeError(`${name} is not available`);
}
