import type { JsonObject } from "../../protocol/index.ts";
import { compileExpression, type Expression } from "./expression.ts";

export type ArgsCondition =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly flaw: { readonly offset: number; readonly message: string } };

/**
 * Compiles the condition of a grant: it reads the arguments of a call, and nothing else. Approvers write it, so it has no
 * loops and no patterns: those could take any time and memory.
 */
export function compileArgsCondition(text: string): ArgsCondition {
  const compiled = compileExpression(text, { plain: true });
  if (!compiled.ok) return compiled;
  const other = compiled.expression.reads.find(([variable]) => variable !== "args");
  if (other === undefined) return compiled;
  const message = `the condition of a grant reads only args, not ${other.join(".")}`;
  return { ok: false, flaw: { offset: 0, message } };
}

/** Reads the condition of a grant. Throws if it is none; what it returns throws if it cannot be judged. */
export function argsCondition(text: string): (args: JsonObject) => boolean {
  const compiled = compileArgsCondition(text);
  if (!compiled.ok) throw new TypeError(`${compiled.flaw.message} (character ${compiled.flaw.offset + 1})`);
  return (args) => compiled.expression.holds({ args });
}
