import { isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type { Refusal } from "../decisions/index.ts";
import type { Write } from "./commit.ts";
import type { Ledger } from "./ledger.ts";

/** A request under a key of its sender: sent again, it has the outcome that it had. */
export interface IdempotentRequest {
  readonly principal: string;
  readonly route: string;
  readonly key: string;
  readonly requestDigest: string;
}

/** How long a key is remembered, whichever entry point it came through. */
export const KEY_KNOWN_MS: number = 24 * 60 * 60 * 1000;

/** The kind of the items that hold such outcomes. */
const ANSWER = "answer";

interface RememberedAnswer {
  readonly requestDigest: string;
  readonly response: JsonValue;
}

/** What a key stands for already: the outcome of this request, or a refusal if it was another one. */
export type Recalled = { readonly ok: true; readonly response: JsonValue } | Refusal;

/** Looks a key up; undefined if nobody has used it within the last day. */
export async function recallResponse(
  ledger: Pick<Ledger, "items">,
  once: IdempotentRequest | undefined,
): Promise<Recalled | undefined> {
  if (once === undefined) return undefined;
  const item = await ledger.items.get(ANSWER, idOf(once));
  if (item === undefined) return undefined;
  const { requestDigest, response } = item.value as unknown as RememberedAnswer;
  if (requestDigest === once.requestDigest) return { ok: true, response };
  const message = `The idempotency key "${once.key}" was already used for a different request. Use a new key.`;
  return { ok: false, code: "key-reused", message };
}

/** Remembers the outcome with whatever it is committed with; refused if the key has become known meanwhile. */
export function rememberResponse(
  once: IdempotentRequest,
  response: JsonValue,
  now: number,
): Extract<Write, { kind: "item" }> {
  const value = { requestDigest: once.requestDigest, response: copyJson(response) };
  const item = { kind: ANSWER, id: idOf(once), value, expiresAt: now + KEY_KNOWN_MS };
  return { kind: "item", item, read: 0 };
}

function idOf({ principal, route, key }: IdempotentRequest): string {
  return JSON.stringify([principal, route, key]);
}

/** Where a message's run can be watched, as what is remembered of it says. */
export interface RememberedRun {
  readonly session: string;
  readonly invocation: string;
  readonly seq: number;
}

/** Reads a run from a remembered outcome; undefined if it tells of something else. */
export function toRememberedRun(response: JsonValue): RememberedRun | undefined {
  const seq = isJsonObject(response) ? member(response, "seq") : undefined;
  if (typeof seq !== "number") return undefined;
  return { session: textIn(response, "session"), invocation: textIn(response, "invocation"), seq };
}

/** A text in a remembered outcome; empty if it has none of that name. */
export function textIn(response: JsonValue, name: string): string {
  const value = isJsonObject(response) ? member(response, name) : undefined;
  return typeof value === "string" ? value : "";
}
