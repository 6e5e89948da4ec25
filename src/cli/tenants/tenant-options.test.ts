import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import type { TenantRecord } from "../../http/index.ts";
import { GivenFlags, type Invocation } from "../command.ts";
import { readTenantsOptions, type TenantsOptions } from "./tenant-options.ts";

const resources = useResources();

const ACME = { name: "acme", ledger: "sqlite:/data/acme.db", limits: {}, state: "active" };

async function optionsOf(
  env: NodeJS.ProcessEnv,
  file: string,
): Promise<ReturnType<TenantsOptions["of"]> | undefined> {
  const folder = await resources.folder();
  writeFileSync(join(folder, "acme.env"), file.replace("{folder}", folder));
  writeFileSync(join(folder, "channels.json"), JSON.stringify({ people: [{ id: "ana", webhook: "a-1" }] }));
  const common = {
    COUNTERSIGN_REGISTRY: "sqlite:tenants.db",
    COUNTERSIGN_TENANTS: folder,
    COUNTERSIGN_PUBLIC_URL: "https://{tenant}.example.com",
    COUNTERSIGN_AUTH: "tokens",
  };
  const invocation = {
    flags: new GivenFlags(new Map()),
    env: { ...common, ...env },
  } as unknown as Invocation;
  return readTenantsOptions(invocation)?.of(ACME as unknown as TenantRecord);
}

const WEBHOOK = "COUNTERSIGN_WEBHOOK=https://hooks.acme.example";

test("a tenant's webhook is signed with a secret of its own, never with one that others know", async () => {
  const shared = { COUNTERSIGN_WEBHOOK_SECRET: "whsec_shared" };
  await expect(optionsOf(shared, WEBHOOK)).rejects.toThrow(/needs COUNTERSIGN_WEBHOOK_SECRET in its file/);
  const own = `${WEBHOOK}\nCOUNTERSIGN_WEBHOOK_SECRET=whsec_own`;
  expect(await optionsOf(shared, own)).toMatchObject({ webhookSecret: "whsec_own" });
});

test("a tenant's ledger has its own secret, or none", async () => {
  expect(await optionsOf({ COUNTERSIGN_SECRET: "the registry's" }, "")).not.toHaveProperty("secret");
  expect(await optionsOf({}, "COUNTERSIGN_SECRET=own")).toMatchObject({ secret: "own" });
});

test("answers of a tenant's receiver are signed with a secret of its own", async () => {
  const shared = { COUNTERSIGN_WEBHOOK_ANSWER_SECRET: "whsec_shared" };
  const channels = "COUNTERSIGN_CHANNELS={folder}/channels.json";
  await expect(optionsOf(shared, channels)).rejects.toThrow(/COUNTERSIGN_WEBHOOK_ANSWER_SECRET/);
  const own = `${channels}\nCOUNTERSIGN_WEBHOOK_ANSWER_SECRET=whsec_own`;
  expect(await optionsOf(shared, own)).toMatchObject({
    channels: { webhookAnswers: { secrets: ["whsec_own"] } },
  });
});
