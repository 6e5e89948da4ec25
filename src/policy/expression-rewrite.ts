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
  switch (node.op) {
    case "?:":
      return `((${a}) ? (${b}) : (${c}))`;
    case "==":
      return sameText(operands);
    case "!=":
      return `!${sameText(operands)}`;
    case "in":
      return `strictIn(${a}, ${b})`;
    case "<":
      return `strictLess(${a}, ${b})`;
    case "<=":
      return `strictMost(${a}, ${b})`;
    case ">":
      return `strictLess(${b}, ${a})`;
    case ">=":
      return `strictMost(${b}, ${a})`;
    case "&&":
    case "||":
      return `((${a}) ${node.op} (${b}))`;
    default:
      return `strictFinite((${a}) ${node.op} (${b}))`;
  }
}

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
