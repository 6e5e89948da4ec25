import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";

/** A browser on a device: its subscription, and the private key by which only it reads what is sent there. */
export interface Device {
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  /** What was sent, by RFC 8291; throws if it was not for this device. */
  read(message: Uint8Array): string;
}

export function createDevice(
  endpoint: string,
  given?: { readonly privateKey: string; readonly auth: string },
): Device {
  const ecdh = createECDH("prime256v1");
  if (given === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(Buffer.from(given.privateKey, "base64url"));
  const own = ecdh.getPublicKey();
  const auth = given === undefined ? randomBytes(16) : Buffer.from(given.auth, "base64url");
  return {
    subscription: {
      endpoint,
      keys: { p256dh: own.toString("base64url"), auth: auth.toString("base64url") },
    },
    read(message) {
      const bytes = Buffer.from(message);
      const salt = bytes.subarray(0, 16);
      const idEnd = 21 + (bytes[20] ?? 0);
      const sender = bytes.subarray(21, idEnd);
      const record = bytes.subarray(idEnd);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, sender]);
      const ikm = derive(ecdh.computeSecret(sender), auth, info, 32);
      const key = derive(ikm, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
      const nonce = derive(ikm, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
      const decipher = createDecipheriv("aes-128-gcm", key, nonce);
      decipher.setAuthTag(record.subarray(-16));
      const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
      return plain.subarray(0, plain.lastIndexOf(2)).toString();
    },
  };
}

function derive(secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, info, length));
}
