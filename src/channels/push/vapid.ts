import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import type { KeyValueStore } from "../../engine/index.ts";
import { isJsonObject, type JsonValue } from "../../protocol/index.ts";

const KEY = { kind: "push-key", id: "current" } as const;
/** Push services accept up to a day. */
const VALID_SECONDS = 12 * 3_600;

/** The key by which push services know this ledger's servers (VAPID, RFC 8292). */
export interface VapidKey {
  readonly privateKey: KeyObject;
  /** As browsers take it: the uncompressed point, in base64url. */
  readonly publicKey: string;
}

/** Made at its first use; all processes on the ledger have the same. Devices that subscribed accept messages only from it. */
export async function vapidKey(store: KeyValueStore): Promise<VapidKey> {
  const kept = await store.get(KEY.kind, KEY.id);
  if (kept !== undefined) return readKey(kept.value);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty = "", crv = "", x = "", y = "", d = "" } = privateKey.export({ format: "jwk" });
  const value = { kty, crv, x, y, d };
  if (await store.put({ ...KEY, value }, 0)) return readKey(value);
  // Another process made one in the meantime.
  return vapidKey(store);
}

function readKey(value: JsonValue): VapidKey {
  const key: JsonWebKey = isJsonObject(value) ? { ...value } : {};
  const [x, y] = [Buffer.from(key.x ?? "", "base64url"), Buffer.from(key.y ?? "", "base64url")];
  return {
    privateKey: createPrivateKey({ key, format: "jwk" }),
    publicKey: Buffer.concat([Uint8Array.of(4), x, y]).toString("base64url"),
  };
}

/** The `Authorization` of a message to a push service: who sends it, for that service only, and not for long. */
export function vapidHeader(
  { privateKey, publicKey }: VapidKey,
  { origin, contact, now }: { readonly origin: string; readonly contact: string; readonly now: number },
): string {
  const header = { typ: "JWT", alg: "ES256" };
  const claims = { aud: origin, exp: Math.floor(now / 1_000) + VALID_SECONDS, sub: contact };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey}`;
}
