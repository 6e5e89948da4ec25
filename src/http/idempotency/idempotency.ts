import { createHash } from "node:crypto";
import type { Context } from "hono";
import { KEY_KNOWN_MS, type Ledger, type Principal, valueDigest } from "../../engine/index.ts";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";

const KIND = "idempotency";
const LONGEST_KEY = 255;

/** The header that marks two requests as the same. */
export const IDEMPOTENCY_HEADER = "Idempotency-Key";

/** One write with an idempotency key. */
export interface Keyed {
  readonly principal: Principal;
  /** The path, as in `/v1/confirmations/adk-1/decision`. */
  readonly route: string;
  /** The content of the request: everything that would make it a different request. */
  readonly said: JsonValue;
  /** Stored with the key the first time, and returned every time. */
  readonly note?: JsonObject;
}

/**
 * Binds the request's key to its content, for a day, on disk and for every server on this database. The same request
 * again continues, with the note that was stored the first time; a different request with that key throws `key-reused`.
 * The operation itself must be idempotent, because the key is bound before it runs. Without a key nothing is stored.
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
  if (await ledger.items.put(item, 0)) return note;
  const value = (await ledger.items.get(KIND, id))?.value;
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

/** The storage key: per principal and path. `part` names other data that is stored with it. */
export function idempotencyId({ kind, id }: Principal, route: string, ...part: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, id, route, ...part]))
    .digest("base64url");
}

/** How long a key is stored. */
export function keyExpiresAt(): number {
  return Date.now() + KEY_KNOWN_MS;
}

/** The idempotency key of a request, if any. Throws if it is empty or too long. */
export function idempotencyKey(context: Context<HttpEnv>): string | undefined {
  const key = context.req.header(IDEMPOTENCY_HEADER);
  if (key === undefined || (key !== "" && key.length <= LONGEST_KEY)) return key;
  throw new CountersignError(
    "malformed-request",
    `${IDEMPOTENCY_HEADER} must have 1 to ${LONGEST_KEY} characters.`,
    { details: { field: IDEMPOTENCY_HEADER } },
  );
}
