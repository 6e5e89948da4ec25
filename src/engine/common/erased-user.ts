import { hmac } from "./hmac.ts";

const LENGTH = 22;

/**
 * What a ledger calls a person who was erased, or may be: the same for the same name, in this ledger only. Whoever has the
 * ledger can find out whether it is a name that they know, and nothing else.
 */
export function erasedUser(digestKey: Uint8Array, user: string): string {
  return `person-${hmac(digestKey, JSON.stringify(["person-v1", user])).slice(0, LENGTH)}`;
}
