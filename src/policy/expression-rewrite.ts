import type { ASTNode } from "@marcbachmann/cel-js";
import { LOOPS } from "./expression-check.ts";

/**
 * The text of a checked expression with strict functions in place of operators. CEL says that `"5" == 5` is false, so
 * an argument of a wrong type would pass a deny rule; with the strict ones it is an error, and errors fail closed.
 */
export function strictText(node: ASTNode): string {
  switch (node.op) {
    case "value":
      return literal(node.args);
    case "id":
      return node.args;
    case ".":
      return `${strictText(node.args[0])}.${node.args[1]}`;
    case "[]":
      return `strictAt(${strictText(node.args[0])}, ${strictText(node.args[1])})`;
    case "list":
      return `[${texts(node.args)}]`;
    case "map":
      return `{${node.args.map(([key, value]) => `${strictText(key)}: ${strictText(value)}`).join(", ")}}`;
    case "!_":
      return `!(${strictText(node.args)})`;
    case "-_":
      return `-(${strictText(node.args)})`;
    case "call":
      return callText(node.args);
    case "rcall":
      return methodText(node.args);
    default:
      return operatorText(node);
  }
}

function texts(nodes: readonly ASTNode[]): string {
  return nodes.map(strictText).join(", ");
}

function literal(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e21) return `${value}.0`;
  return String(value);
}

function callText([name, args]: readonly [string, readonly ASTNode[]]): string {
  const [field] = args;
  if (name === "has" && field?.op === ".")
    return `strictHas(${strictText(field.args[0])}, ${JSON.stringify(field.args[1])})`;
  return `${name}(${texts(args)})`;
}

function methodText([name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]]): string {
  const on = strictText(receiver);
  return LOOPS.has(name) ? `strictLoop(${on}).${name}(${texts(args)})` : `(${on}).${name}(${texts(args)})`;
}

function operatorText(node: ASTNode): string {
  const operands = node.args as readonly ASTNode[];
  const [a = "", b = "", c = ""] = operands.map(strictText);
  if (node.op === "?:") return `((${a}) ? (${b}) : (${c}))`;
  if (node.op === "==") return sameText(operands);
  if (node.op === "!=") return `!${sameText(operands)}`;
  const strict = STRICT[node.op];
  if (strict !== undefined) return strict(a, b);
  return node.op === "&&" || node.op === "||"
    ? `((${a}) ${node.op} (${b}))`
    : `strictFinite((${a}) ${node.op} (${b}))`;
}

const STRICT: { readonly [operator: string]: (a: string, b: string) => string } = {
  in: (a, b) => `strictIn(${a}, ${b})`,
  "<": (a, b) => `strictLess(${a}, ${b})`,
  "<=": (a, b) => `strictMost(${a}, ${b})`,
  ">": (a, b) => `strictLess(${b}, ${a})`,
  ">=": (a, b) => `strictMost(${b}, ${a})`,
};

// Only a comparison with null that is written down may find that something is null.
function sameText(operands: readonly ASTNode[]): string {
  const other = operands.find((operand) => !isNull(operand));
  if (other === undefined) return "true";
  if (operands.some(isNull)) return `strictNull(${strictText(other)})`;
  return `strictSame(${operands.map(strictText).join(", ")})`;
}

function isNull(node: ASTNode): boolean {
  return node.op === "value" && node.args === null;
}
