import { hmac } from "../common/index.ts";
import type { EngineParts } from "../parts.ts";

const LENGTH = 22;

/**
 * What the journal calls a person who may be erased: the same for the same name, in this ledger only. Whoever has the
 * ledger and the secret can find out whether it is a name that they know, and nothing else.
 */
export function pseudonymOf(
  { ledger, secret }: Pick<EngineParts, "ledger" | "secret">,
  user: string,
): string {
  return `person-${hmac(secret ?? ledger.digestKey, JSON.stringify(["person-v1", user])).slice(0, LENGTH)}`;
}
