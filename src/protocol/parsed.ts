import type { ErrorCode } from "./error-code.ts";

/** Why something from outside could not be read: a stable code, a sentence, and the place (`""` is the root). */
export interface Unreadable {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly path: string;
}

/** What a parser answers: the typed value, or the first thing wrong with the input. Parsers do not throw. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Unreadable;

/** An {@link Unreadable} whose message names the place: `parts[0].text must be a string.` */
export function unreadable(
  path: string,
  complaint: string,
  code: ErrorCode = "malformed-request",
): Unreadable {
  return { ok: false, code, message: `${path === "" ? "The value" : path} ${complaint}.`, path };
}

/** The success of a parser. */
export function parsed<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}
