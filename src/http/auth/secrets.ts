import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;

/** 256 unguessable bits, as text that needs no escaping anywhere. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/**
 * What is kept of a secret instead of it. Our secrets are random throughout, so a fast hash cannot be searched
 * backwards; the salt keeps two uses of one text apart.
 */
export function hashSecret(salt: string, secret: string): string {
  return createHash("sha256").update(`${salt}\n${secret}`).digest("hex");
}

/** Are these two the same text? Takes as long whatever they have in common. */
export function isSameSecret(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
