import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;

/** 256 unguessable bits, as text that needs no escaping anywhere. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/**
 * The stored hash of a secret. Our secrets are fully random, so a fast hash is safe; the salt keeps two uses of one
 * text apart.
 */
export function hashSecret(salt: string, secret: string): string {
  return createHash("sha256").update(`${salt}\n${secret}`).digest("hex");
}

/** Compares two texts in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
