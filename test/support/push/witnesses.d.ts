declare module "http_ece" {
  import type { ECDH } from "node:crypto";

  const ece: {
    decrypt(
      message: Uint8Array,
      how: { readonly version: "aes128gcm"; readonly privateKey: ECDH; readonly authSecret: string },
    ): Buffer;
  };
  export default ece;
}

declare module "web-push" {
  const webpush: {
    encrypt(
      p256dh: string,
      auth: string,
      text: string,
      encoding: "aes128gcm",
    ): { readonly cipherText: Buffer };
    getVapidHeaders(
      origin: string,
      contact: string,
      publicKey: string,
      privateKey: string,
      encoding: "aes128gcm",
    ): { readonly Authorization: string };
  };
  export default webpush;
}
