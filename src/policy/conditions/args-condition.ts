import type { REDACTED } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type CallFacts, valueAt } from "../call-facts.ts";
import { compileExpression, type Expression } from "./expression.ts";

/** What the engine gives in the place of a secret. */
const INSTEAD_OF_SECRET: typeof REDACTED = "[redacted]";

export type ArgsCondition =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly flaw: { readonly offset: number; readonly message: string } };

/**
 * Compiles the condition of a grant: it reads the arguments of a call, and nothing else. Approvers write it, so it has no
 * loops and no patterns: those could take any time and memory. Nor does it read secrets: what it is given in their place
 * must not be taken for a fact.
 */
export function compileArgsCondition(text: string): ArgsCondition {
  const compiled = compileExpression(text, { plain: true });
  if (!compiled.ok) return compiled;
  const other = compiled.expression.reads.find(([variable]) => variable !== "args");
  if (other === undefined) return { ok: true, expression: withoutSecrets(compiled.expression) };
  const message = `the condition of a grant reads only args, not ${other.join(".")}`;
  return { ok: false, flaw: { offset: 0, message } };
}

function withoutSecrets(expression: Expression): Expression {
  return {
    ...expression,
    holds: (facts) => {
      const secret = expression.reads.find((path) => hasSecret(factAt(facts, path)));
      if (secret !== undefined) throw new TypeError(`${secret.join(".")} reads a secret`);
      return expression.holds(facts);
    },
  };
}

function factAt({ args }: Partial<CallFacts>, [, ...members]: readonly string[]): unknown {
  return valueAt(args, members);
}

function hasSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === INSTEAD_OF_SECRET;
  return Object.values(value).some(hasSecret);
}

/** Reads the condition of a grant. Throws if it is none; what it returns throws if it cannot be judged. */
export function argsCondition(text: string): (args: JsonObject) => boolean {
  const compiled = compileArgsCondition(text);
  if (!compiled.ok) throw new TypeError(`${compiled.flaw.message} (character ${compiled.flaw.offset + 1})`);
  return (args) => compiled.expression.holds({ args });
}
