import { type Engine, partsOf, type ReceiptTarget, signingSecret } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { parseWebhookSecret, webhookSecrets } from "../webhooks/index.ts";
import { appendReceipt } from "./append-line.ts";
import { gitTarget } from "./git-target.ts";
import { httpTarget } from "./http-target.ts";
import type { ReceiptSettings, TargetSettings } from "./receipts-file.ts";

/** The lease of a run lasts a minute, and is renewed before each target. */
const TIMEOUT_MS = 20_000;
/** A target in git runs several programs. */
const GIT_TIMEOUT_MS = 8_000;

/**
 * The targets of a file. What is posted is signed as webhooks are, too. Throws `invalid-option` if there is nothing to sign
 * with: the ledger's own webhook secret is shown only once, by a server with a webhook.
 */
export async function openTargets(
  engine: Engine,
  { targets }: Pick<ReceiptSettings, "targets">,
  webhookSecret: string | undefined,
): Promise<readonly ReceiptTarget[]> {
  const parts = partsOf(engine);
  const { clock } = parts;
  signingSecret(parts);
  const isPosted = targets.some(({ kind }) => kind === "http");
  const keys = isPosted ? await keysOf(engine, webhookSecret) : [];
  return targets.map((target) => {
    if (target.kind === "file") return fileTarget(target);
    const { name } = target;
    return target.kind === "http"
      ? httpTarget(name, { url: target.url, keys, clock, timeoutMs: TIMEOUT_MS })
      : gitTarget(name, { ...target, timeoutMs: GIT_TIMEOUT_MS });
  });
}

function fileTarget({ name, path }: TargetSettings & { readonly kind: "file" }): ReceiptTarget {
  return { name, keep: (receipt) => appendReceipt(path, receipt) };
}

async function keysOf({ ledger }: Engine, webhookSecret: string | undefined): Promise<readonly Uint8Array[]> {
  if (webhookSecret === undefined)
    throw new CountersignError(
      "invalid-option",
      "A target with a url needs COUNTERSIGN_WEBHOOK_SECRET: what is posted there is signed with it. Create one with: echo whsec_$(openssl rand -base64 32)",
      { details: { field: "url" } },
    );
  return (await webhookSecrets(ledger, webhookSecret)).secrets.map(parseWebhookSecret);
}
