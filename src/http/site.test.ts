import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import { Agent, Runner } from "../index.ts";
import { createApp } from "./app.ts";

const resources = useResources();

test("a database that could not be opened is opened when it can be, and its location is not revealed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  resources.add(() => rm(folder, { recursive: true }));
  const runner = new Runner({
    agent: new Agent({ name: "shop" }),
    ledger: `sqlite:${join(folder, "later", "countersign.db")}`,
  });
  resources.add(() => runner.close());
  const app = createApp({ apps: { shop: runner } });
  const get = async (path: string) => app.fetch(new Request(`http://localhost${path}`));
  for (const path of ["/v1/confirmations", "/apps/shop/users/ana/sessions"]) {
    const refused = await get(path);
    const said = await refused.text();
    expect([refused.status, JSON.parse(said)]).toMatchObject([503, { code: "ledger-unreachable" }]);
    expect(said).not.toContain(folder);
  }
  mkdirSync(join(folder, "later"));
  expect((await get("/v1/confirmations")).status).toBe(200);
});
