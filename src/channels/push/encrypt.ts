import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";

const CURVE = "prime256v1";
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const CEK_BYTES = 16;
const NONCE_BYTES = 12;
const RECORD_SIZE = 4_096;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
/** Ends the content of the last record. */
const LAST_RECORD = Uint8Array.of(2);

/** What a browser gave out, so that only it can read what is sent to it. */
export interface DeviceKeys {
  /** A point of P-256, uncompressed. */
  readonly p256dh: Uint8Array;
  readonly auth: Uint8Array;
}

/** The keys, if they are keys: anything else cannot be encrypted for. Takes as long as to encrypt a message. */
export function readDeviceKeys(p256dh: string, auth: string): DeviceKeys | undefined {
  const keys = decodeDeviceKeys(p256dh, auth);
  if (keys === undefined) return undefined;
  try {
    newSender().computeSecret(keys.p256dh);
    return keys;
  } catch {
    return undefined;
  }
}

/** Keys that were checked before they were stored. */
export function decodeDeviceKeys(p256dh: string, auth: string): DeviceKeys | undefined {
  const keys = { p256dh: Buffer.from(p256dh, "base64url"), auth: Buffer.from(auth, "base64url") };
  return keys.p256dh.length === POINT_BYTES && keys.auth.length === AUTH_BYTES ? keys : undefined;
}

/** What is new for every message; given only to compare with what the standard published. */
export interface Fresh {
  readonly sender: ECDH;
  readonly salt: Uint8Array;
}

/** One message for one device: RFC 8291, in the coding `aes128gcm` of RFC 8188, as a single record. */
export function encryptPush(
  plain: Uint8Array,
  { p256dh, auth }: DeviceKeys,
  { sender, salt }: Fresh = { sender: newSender(), salt: randomBytes(SALT_BYTES) },
): Buffer<ArrayBuffer> {
  const own = sender.getPublicKey();
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, own]);
  const ikm = hkdf(sender.computeSecret(p256dh), { salt: auth, info, length: KEY_BYTES });
  const key = hkdf(ikm, { salt, info: Buffer.from("Content-Encoding: aes128gcm\0"), length: CEK_BYTES });
  const nonce = hkdf(ikm, { salt, info: Buffer.from("Content-Encoding: nonce\0"), length: NONCE_BYTES });
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_SIZE);
  return Buffer.concat([
    salt,
    size,
    Uint8Array.of(own.length),
    own,
    cipher.update(plain),
    cipher.update(LAST_RECORD),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

function newSender(): ECDH {
  const sender = createECDH(CURVE);
  sender.generateKeys();
  return sender;
}

interface Derivation {
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
  readonly length: number;
}

function hkdf(secret: Uint8Array, { salt, info, length }: Derivation): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, info, length));
}
