import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { Ledger, Principal } from "../engine/index.ts";
import { CountersignError, canonicalJson, type JsonValue } from "../protocol/index.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What a cursor is valid for: this list, with this filter, for this caller. */
export interface CursorUse {
  /** As in `/v1/confirmations`. */
  readonly list: string;
  readonly principal: Principal;
  readonly filter?: JsonValue;
}

/**
 * Makes an encrypted cursor that cannot be read, changed, or used for anything else: positions in the ledger would
 * reveal rows that the reader may not see. Every server on the same ledger can open it.
 */
export function sealCursor(ledger: Pick<Ledger, "digestKey">, use: CursorUse, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(ledger.digestKey), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(use));
  const sealed = Buffer.concat([cipher.update(place, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** The position in a cursor; throws `invalid-cursor` if it was not made for this use. */
export function openCursor(ledger: Pick<Ledger, "digestKey">, use: CursorUse, cursor: string): string {
  const place = unseal(ledger, use, cursor);
  if (place !== undefined) return place;
  throw new CountersignError(
    "invalid-cursor",
    "The cursor does not belong to this list, these filters and this user.",
    { details: { field: "cursor", hint: "Start again without a cursor." } },
  );
}

/** Like {@link openCursor}, but returns undefined instead of throwing. */
export function unseal(
  ledger: Pick<Ledger, "digestKey">,
  use: CursorUse,
  cursor: string,
): string | undefined {
  const bytes = Buffer.from(cursor, "base64url");
  const start = NONCE_BYTES + TAG_BYTES;
  // Each has exactly one spelling, so that an altered one never matches.
  if (bytes.length < start || bytes.toString("base64url") !== cursor) return undefined;
  const decipher = createDecipheriv(CIPHER, keyOf(ledger.digestKey), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(boundTo(use));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, start));
  try {
    return decipher.update(bytes.subarray(start), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

function boundTo({ list, principal: { kind, id, onBehalfOf }, filter = null }: CursorUse): Buffer {
  return Buffer.from(canonicalJson([list, kind, id, onBehalfOf ?? null, filter]));
}

const keys = new WeakMap<Uint8Array, KeyObject>();

// As an object: from bytes, Node would make one for each cursor, and the live feed makes one for each message of each reader.
function keyOf(digestKey: Uint8Array): KeyObject {
  let key = keys.get(digestKey);
  if (key === undefined) {
    key = createSecretKey(Buffer.from(hkdfSync("sha256", digestKey, "", "countersign cursors", KEY_BYTES)));
    keys.set(digestKey, key);
  }
  return key;
}
