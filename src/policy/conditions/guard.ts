import type { ASTNode } from "@marcbachmann/cel-js";
import { LONGEST_LIST } from "./strict-values.ts";

/** A comparison of one fact with what is written down. A condition that has one is false where the comparison is. */
export type Guard = ValueGuard | OrderGuard;

interface OnFact {
  /** The variable and the members that lead to the fact. */
  readonly path: readonly string[];
}

/** The fact is one of these values, which have one type; or it is a list that has one of them. */
interface ValueGuard extends OnFact {
  readonly kind: "is" | "has";
  readonly values: readonly (string | number)[];
}

export interface OrderGuard extends OnFact {
  readonly kind: "order";
  readonly operator: Order;
  readonly value: number;
}

export type Order = "<" | "<=" | ">" | ">=";

/** The comparison that leaves out most calls; undefined if the condition has none. */
export function guardOf(node: ASTNode): Guard | undefined {
  if (node.op !== "&&" && node.op !== "||") return comparison(node);
  const [a, b] = node.args.map(guardOf);
  if (node.op === "||") return a && b && either(a, b);
  return a === undefined || (a.kind === "order" && b !== undefined) ? b : a;
}

/** Only if both compare the same fact in the same way is one of them false exactly where the other has a value, too. */
function either(a: Guard, b: Guard): Guard | undefined {
  if (a.kind === "order" || b.kind === "order" || a.kind !== b.kind) return undefined;
  const isSame = a.path.join(".") === b.path.join(".") && typeof a.values[0] === typeof b.values[0];
  return isSame ? { ...a, values: [...a.values, ...b.values] } : undefined;
}

function comparison(node: ASTNode): Guard | undefined {
  if (node.op === "==") return equality(node.args);
  if (node.op === "in") return membership(node.args);
  if (node.op === "rcall") return existence(node.args);
  return node.op in REVERSED ? order(node.op as Order, node.args as [ASTNode, ASTNode]) : undefined;
}

function equality([a, b]: readonly [ASTNode, ASTNode]): Guard | undefined {
  const [path, value] = [pathOf(a) ?? pathOf(b), literal(b) ?? literal(a)];
  return path === undefined || value === undefined ? undefined : { path, kind: "is", values: [value] };
}

function membership([one, all]: readonly [ASTNode, ASTNode]): Guard | undefined {
  if (all.op !== "list") return listing(pathOf(all), literal(one));
  const [path, values] = [pathOf(one), all.args.map(literal)];
  const isText = values.every((value) => typeof value === "string");
  if (path === undefined || !isText || values.length === 0 || values.length > LONGEST_LIST) return undefined;
  return { path, kind: "is", values };
}

/** `list.exists(one, one == "text")` */
function existence([name, on, [variable, body]]: readonly [string, ASTNode, readonly ASTNode[]]):
  | Guard
  | undefined {
  if (name !== "exists" || variable?.op !== "id" || body?.op !== "==") return undefined;
  const [a, b] = body.args;
  const value = isName(a, variable.args) ? literal(b) : isName(b, variable.args) ? literal(a) : undefined;
  return listing(pathOf(on), value);
}

function isName(node: ASTNode, name: string): boolean {
  return node.op === "id" && node.args === name;
}

function listing(path: readonly string[] | undefined, value: string | number | undefined): Guard | undefined {
  return path === undefined || typeof value !== "string" ? undefined : { path, kind: "has", values: [value] };
}

const REVERSED: { readonly [operator in Order]: Order } = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

function order(operator: Order, [a, b]: readonly [ASTNode, ASTNode]): Guard | undefined {
  const [left, right] = [pathOf(a), pathOf(b)];
  const [path, value] = left === undefined ? [right, literal(a)] : [left, literal(b)];
  if (path === undefined || typeof value !== "number") return undefined;
  return { path, kind: "order", operator: left === undefined ? REVERSED[operator] : operator, value };
}

/** The members that begin at a variable, such as `args.amount`. */
export function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === "id") return [node.args];
  if (node.op !== ".") return undefined;
  const before = pathOf(node.args[0]);
  return before === undefined ? undefined : [...before, node.args[1]];
}

/** A text or a number that is written down. Integers are small enough to be numbers: the check has seen to it. */
function literal(node: ASTNode): string | number | undefined {
  if (node.op !== "value") return undefined;
  const { args: value } = node;
  if (typeof value === "bigint") return Number(value);
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
