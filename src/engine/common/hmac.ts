import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

// In Node, importing a key takes eight times as long as hashing a short text, so each key is imported once.
const ofSecrets = new Map<string, KeyObject>();
const ofBytes = new WeakMap<Uint8Array, KeyObject>();

/** HMAC-SHA256 of a text, in base64url. The bytes of a key must not change once it has been used. */
export function hmac(key: string | Uint8Array, text: string): string {
  return createHmac("sha256", keyObject(key)).update(text).digest("base64url");
}

function keyObject(key: string | Uint8Array): KeyObject {
  const known = typeof key === "string" ? ofSecrets.get(key) : ofBytes.get(key);
  if (known !== undefined) return known;
  if (typeof key === "string") {
    const made = createSecretKey(key, "utf8");
    ofSecrets.set(key, made);
    return made;
  }
  const made = createSecretKey(key);
  ofBytes.set(key, made);
  return made;
}
