import { hmac } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const UNSIGNED = "ungated";

/**
 * The proof that a call needed no approval, or that a grant let it run. It is signed if there is a secret, so that nobody can delete a call's
 * question from the database and make it look like a call that needed none.
 */
export function permitFor({ secret }: Pick<EngineParts, "secret">, call: Subject): string {
  return secret === undefined
    ? UNSIGNED
    : hmac(secret, JSON.stringify(["permit-v2", call.id, call.tool, call.argsDigest, call.grant ?? null]));
}

/** Does this call carry the permit that was made for it? */
export function isPermitted(
  parts: Pick<EngineParts, "secret">,
  call: Subject & Pick<CallRecord, "permit">,
): boolean {
  return call.permit !== undefined && call.permit === permitFor(parts, call);
}

type Subject = Pick<CallRecord, "id" | "tool" | "argsDigest" | "grant">;
