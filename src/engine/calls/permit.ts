import { hmac } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const UNSIGNED = "ungated";

/**
 * What says of a call that it needed nobody. Signed where there is a secret, so that a row from which somebody
 * struck the question does not pass for one that never had any.
 */
export function permitFor({ secret }: Pick<EngineParts, "secret">, call: Subject): string {
  return secret === undefined
    ? UNSIGNED
    : hmac(secret, JSON.stringify(["permit-v1", call.id, call.tool, call.argsDigest]));
}

/** Does this call carry the permit that was made for it? */
export function isPermitted(
  parts: Pick<EngineParts, "secret">,
  call: Subject & Pick<CallRecord, "permit">,
): boolean {
  return call.permit !== undefined && call.permit === permitFor(parts, call);
}

type Subject = Pick<CallRecord, "id" | "tool" | "argsDigest">;
