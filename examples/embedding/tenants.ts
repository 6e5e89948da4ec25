// Many tenants behind one server, each with a ledger of its own.

// #region tenants
import { byHost, createApp, createTenants } from "../../src/http/index.ts";
import { createEngine, Runner } from "../../src/index.ts";

/** Which ledger each tenant has: SQLite files, PostgreSQL databases, or both. */
const ledgers = ledgersOf("acme", "globex"); // a Map: "acme" → "sqlite:acme.db"

const tenants = createTenants({
  tenantOf: byHost({ "acme.example": "acme", "globex.example": "globex" }),
  names: () => ledgers.keys(),
  open: async (tenant) => {
    const ledger = ledgers.get(tenant);
    if (ledger === undefined) return undefined; // 404
    const engine = await createEngine({ ledger }); // with the tenant's own `secret` and `policy`
    const shop = new Runner({ agent, app: "shop", engine });
    return {
      engine,
      app: createApp({
        apps: { shop },
        engine,
        publicUrl: `https://${tenant}.example`,
        authenticate: (request) => userOf(request),
      }),
      close: () => shop.close(),
    };
  },
});

// #endregion

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.ts";
import { agent, userOf } from "./shop.ts";

function ledgersOf(...names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, `sqlite:${join(temporary(), `${name}.db`)}`]));
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-tenants-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  return folder;
}

const ask = (host: string) => async (path: string, init?: RequestInit) => {
  const request = new Request(`https://${host}${path}`, init);
  request.headers.set("host", host);
  return tenants.fetch(request);
};

for (const host of ["acme.example", "globex.example"]) await check(ask(host));
assert.equal((await ask("initech.example")("/v1/confirmations")).status, 404);
await tenants.close();
