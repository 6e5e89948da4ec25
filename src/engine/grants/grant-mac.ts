import { timingSafeEqual } from "node:crypto";
import { canonicalJson, type JsonValue } from "../../protocol/index.ts";
import { hmac } from "../common/index.ts";
import type { Draft, GrantRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** The grant as it is stored: signed if the engine has a secret, over whom it is of, what for, its limits and its use. */
export function signedGrant(
  { secret }: Pick<EngineParts, "secret">,
  { mac: _before, ...grant }: GrantRecord,
): GrantRecord {
  return secret === undefined ? grant : { ...grant, mac: macOf(secret, grant) };
}

/** Stores a change of a grant that the draft has, signed; with `ahead`, only while its end is ahead. */
export function changeGrant(
  parts: Pick<EngineParts, "secret">,
  draft: Draft,
  { ahead = false, ...changed }: GrantRecord & { readonly ahead?: boolean },
): GrantRecord {
  const revision = draft.revisionAfter(changed);
  return draft.sync().putGrant(signedGrant(parts, { ...changed, revision }), { ahead });
}

/** Is the grant as it was stored by the engine? Always, without a secret. */
export function grantIsGenuine(
  { secret }: Pick<EngineParts, "secret">,
  { mac = "", ...grant }: GrantRecord,
): boolean {
  if (secret === undefined) return true;
  const [expected, found] = [Buffer.from(macOf(secret, grant)), Buffer.from(mac)];
  return expected.length === found.length && timingSafeEqual(expected, found);
}

function macOf(secret: string, grant: Omit<GrantRecord, "mac">): string {
  return hmac(secret, `grant-v1 ${canonicalJson(grant as unknown as JsonValue)}`);
}
