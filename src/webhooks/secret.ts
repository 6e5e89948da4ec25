import type { Ledger } from "../engine/index.ts";
import { newWebhookSecret, parseWebhookSecret } from "./signature.ts";

const KEY = { kind: "webhook-secret", id: "current" } as const;

/** The signing secrets. `made`: new, so it is shown once. */
export interface WebhookSecrets {
  readonly secrets: readonly string[];
  readonly made: boolean;
}

/**
 * The secrets that were configured (several, with spaces between, while they are rotated), else the ledger's own,
 * which is made at its first use; all processes on the ledger have the same. Throws `invalid-option`.
 */
export async function webhookSecrets(ledger: Ledger, configured?: string): Promise<WebhookSecrets> {
  const given = configured?.split(/[\s,]+/).filter((secret) => secret !== "") ?? [];
  for (const secret of given) parseWebhookSecret(secret);
  if (given.length > 0) return { secrets: given, made: false };
  const known = await keptWebhookSecret(ledger);
  if (known !== undefined) return { secrets: [known], made: false };
  const secret = newWebhookSecret();
  if (await ledger.items.put({ ...KEY, value: secret }, 0)) return { secrets: [secret], made: true };
  // Another process made one in the meantime.
  return webhookSecrets(ledger);
}

/** The ledger's own secret, if one was made. */
export async function keptWebhookSecret(ledger: Pick<Ledger, "items">): Promise<string | undefined> {
  const kept = await ledger.items.get(KEY.kind, KEY.id);
  return typeof kept?.value === "string" ? kept.value : undefined;
}
