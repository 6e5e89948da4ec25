import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { hmac } from "../common/index.ts";

/** Signs receipts. Everybody who has the public key can check them, and only whoever has the secret can make them. */
export interface SigningKey {
  /** The public key. */
  readonly key: string;
  readonly sign: (text: string) => string;
}

const PURPOSE = "countersign receipt key 1";
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const KEY = /^[\w-]{43}$/;

/** The key is derived from the ledger's secret: every process has it, and there is nothing more to distribute. */
export function signingKey(secret: string): SigningKey {
  const seed = Buffer.from(hmac(secret, PURPOSE), "base64url");
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return { key: x, sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64url") };
}

/** The public key of the receipts of a ledger with this secret. */
export function receiptKeyOf(secret: string): string {
  return signingKey(secret).key;
}

/** Can it be the public key of receipts? */
export function isReceiptKey(text: string): boolean {
  return KEY.test(text);
}

export function isSignedWith(key: string, text: string, signature: string): boolean {
  try {
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key }, format: "jwk" });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, "base64url"));
  } catch {
    // Not every 32 bytes are a key.
    return false;
  }
}
