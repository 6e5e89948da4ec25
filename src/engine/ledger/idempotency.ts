import { isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { Refusal } from "../decisions/index.ts";
import type { Memo, Write } from "./commit.ts";
import type { Ledger } from "./ledger.ts";

/** A request under a key of its sender: sent again, it has the outcome that it had. */
export type IdempotentRequest = Pick<Memo, "principal" | "route" | "key" | "requestDigest">;

/** How long a key is remembered, whichever entry point it came through. */
export const KEY_KNOWN_MS: number = 24 * 60 * 60 * 1000;

/** What a key stands for already: the outcome of this request, or a refusal if it was another one. */
export type Recalled = { readonly ok: true; readonly response: JsonValue } | Refusal;

/** Looks a key up; undefined if nobody has used it within the last day. */
export async function recallResponse(
  ledger: Pick<Ledger, "recall">,
  once: IdempotentRequest | undefined,
): Promise<Recalled | undefined> {
  const memo = once === undefined ? undefined : await ledger.recall(once);
  if (memo === undefined || once === undefined) return undefined;
  if (memo.requestDigest === once.requestDigest) return { ok: true, response: memo.response };
  const message = `The idempotency key "${once.key}" was already used for a different request. Use a new key.`;
  return { ok: false, code: "key-reused", message };
}

/** Remembers the outcome with whatever it is committed with; refused if the key has become known meanwhile. */
export function rememberResponse(
  once: IdempotentRequest,
  response: JsonValue,
  now: number,
): Extract<Write, { kind: "remember" }> {
  return { kind: "remember", memo: { ...once, response, expiresAt: now + KEY_KNOWN_MS } };
}

/** Where a message's run can be watched, as its memo says it. */
export interface RememberedRun {
  readonly session: string;
  readonly invocation: string;
  readonly seq: number;
}

/** Reads a run from a memo; undefined if it tells of something else. */
export function toRememberedRun(response: JsonValue): RememberedRun | undefined {
  const seq = isJsonObject(response) ? member(response, "seq") : undefined;
  if (typeof seq !== "number") return undefined;
  return { session: textIn(response, "session"), invocation: textIn(response, "invocation"), seq };
}

/** A text that a memo holds; empty if it holds none of that name. */
export function textIn(response: JsonValue, name: string): string {
  const value = isJsonObject(response) ? member(response, name) : undefined;
  return typeof value === "string" ? value : "";
}
