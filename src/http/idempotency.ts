import { createHash } from "node:crypto";
import type { Context } from "hono";
import { KEY_KNOWN_MS, type Ledger, type Principal, valueDigest } from "../engine/index.ts";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../protocol/index.ts";
import type { HttpEnv } from "./env.ts";

const KIND = "idempotency";
const LONGEST_KEY = 255;

/** The header by which a client says that two requests are one. */
export const IDEMPOTENCY_HEADER = "Idempotency-Key";

/** One write as a key stands for it. */
export interface Keyed {
  readonly principal: Principal;
  /** What is written to, as in `/v1/confirmations/adk-1/decision`. */
  readonly route: string;
  /** What is said, with everything that would make it another request. */
  readonly said: JsonValue;
  /** Kept with the key the first time, and given back every time. */
  readonly note?: JsonObject;
}

/**
 * Binds the request's key to what it says, for a day, on disk and for every server on this database. The same again
 * goes on, with the note that was kept the first time; anything else under that key throws `key-reused`. What is done
 * under a key must be idempotent by itself: the key is bound before it is done. Without a key nothing is kept.
 */
export async function bindKey(
  context: Context<HttpEnv>,
  ledger: Ledger,
  { principal, route, said, note = {} }: Keyed,
): Promise<JsonObject> {
  const key = idempotencyKey(context);
  if (key === undefined) return note;
  const id = idempotencyId(principal, route, key);
  const digest = valueDigest(ledger.digestKey, said);
  const item = { kind: KIND, id, value: { digest, note }, expiresAt: keyExpiresAt() };
  if (await ledger.putItem(item, 0)) return note;
  const value = (await ledger.item(KIND, id))?.value;
  const kept: JsonObject = isJsonObject(value) ? value : {};
  if (member(kept, "digest") !== digest) {
    throw new CountersignError(
      "key-reused",
      `The idempotency key "${key}" was already used for a different request.`,
      {
        details: { field: IDEMPOTENCY_HEADER, hint: "Use a new key." },
      },
    );
  }
  const remembered = member(kept, "note");
  return isJsonObject(remembered) ? remembered : {};
}

/** Under what a key is kept: it is its principal's own, and its address's. `part` tells what else is kept with it. */
export function idempotencyId({ kind, id }: Principal, route: string, ...part: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, id, route, ...part]))
    .digest("base64url");
}

/** How long a key is known. */
export function keyExpiresAt(): number {
  return Date.now() + KEY_KNOWN_MS;
}

/** The key that a request came under, if it came under one. Throws where it is empty or endless. */
export function idempotencyKey(context: Context<HttpEnv>): string | undefined {
  const key = context.req.header(IDEMPOTENCY_HEADER);
  if (key === undefined || (key !== "" && key.length <= LONGEST_KEY)) return key;
  throw new CountersignError(
    "malformed-request",
    `${IDEMPOTENCY_HEADER} must have 1 to ${LONGEST_KEY} characters.`,
    { details: { field: IDEMPOTENCY_HEADER } },
  );
}
