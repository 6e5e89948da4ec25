import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import type { Ledger } from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import { webhookSecrets } from "./secret.ts";
import { newWebhookSecret } from "./signature.ts";

const resources = useResources();

async function open(path: string): Promise<Ledger> {
  const ledger = await createLedger(`sqlite:${path}`);
  resources.add(() => ledger.close());
  return ledger;
}

test("a secret that nobody configured is made once, for all processes, and told to be new once", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const ledgers = [await open(path), await open(path)];
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, i) => webhookSecrets(ledgers[i % 2] as Ledger)),
  );
  expect(new Set(all.map(({ secrets }) => secrets.join())).size).toBe(1);
  expect(all.filter(({ made }) => made)).toHaveLength(1);
  expect(await webhookSecrets(await open(path))).toEqual({ ...all[0], made: false });
});

test("configured secrets stand before the ledger's own, several while they are rotated", async () => {
  const ledger = await open(join(await resources.folder(), "ledger.db"));
  await webhookSecrets(ledger);
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  expect(await webhookSecrets(ledger, ` ${secrets.join(" ")} `)).toEqual({ secrets, made: false });
  await expect(webhookSecrets(ledger, "hush")).rejects.toMatchObject({ code: "invalid-option" });
});
