import { type CallerOutcome, toldToModel } from "../engine/index.ts";
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";

/**
 * The answer of a call to the framework's model: the result, or an error to throw in place of one. What the function
 * itself threw is thrown as it was, so that the framework handles it as it would alone.
 */
export function answerOrThrow(
  outcome: CallerOutcome,
  thrown: { readonly error: unknown } | undefined,
): JsonValue {
  const { ok, answer } = toldToModel(outcome);
  if (ok) return answer;
  if (thrown !== undefined && outcome.status === "failed" && outcome.amended === undefined)
    throw thrown.error;
  throw new Error(errorTextOf(answer));
}

/** An answer that is no result, as one text: a lone error as it is, anything more as JSON. */
export function errorTextOf(answer: JsonValue): string {
  const [only, ...others] = isJsonObject(answer) ? Object.values(answer) : [];
  return typeof only === "string" && others.length === 0 ? only : JSON.stringify(answer);
}

/** The answer of a call that an approver changed. */
export function isToldAmended(answer: unknown): boolean {
  return isJsonObject(answer) && ["result", "note", "ranWith"].every((name) => Object.hasOwn(answer, name));
}

/** Is this value of the framework the same JSON as these arguments? */
export function isSame(args: JsonObject, input: unknown): boolean {
  const text = JSON.stringify(input);
  return text !== undefined && canonicalJson(args) === canonicalJson(JSON.parse(text) as JsonValue);
}

/** An approver's arguments as the tool's schema returns them. Throws if they are not what the approver saw. */
export function asApproved(args: JsonObject, parsed: unknown): unknown {
  if (isSame(args, parsed)) return parsed;
  throw new Error("The tool's schema changes the approver's arguments; they were not run.");
}

/**
 * The arguments for a tool that parses what it gets: the approved ones, or the model's own if only these are parsed to
 * them. Throws if neither are.
 */
export async function toBeParsed<Args>(
  approved: JsonObject,
  sent: Args,
  parse: (args: Args | JsonObject) => Promise<unknown>,
): Promise<Args | JsonObject> {
  const fits = async (args: Args | JsonObject): Promise<boolean> => {
    try {
      return isSame(approved, await parse(args));
    } catch {
      return false;
    }
  };
  if (await fits(approved)) return approved;
  if (await fits(sent)) return sent;
  asApproved(approved, await parse(approved));
  return approved;
}
