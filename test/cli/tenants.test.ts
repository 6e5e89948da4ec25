import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../support/processes/command-line.ts";

test("a tenant is created, listed, limited, suspended, exported, checked and erased by commands", async () => {
  const folder = makeFolder();
  const file = join(folder.path, "acme.db");
  expect(folder.run(["tenants", "list"])).toMatchObject({ code: 6 });
  expect(folder.run(["tenants", "create", "acme", "--ledger", "sqlite:acme.db", "--pending", "5"]).code).toBe(
    0,
  );
  expect(folder.json(["tenants", "list"])).toMatchObject([
    {
      name: "acme",
      state: "active",
      ledger: `sqlite:${file}`,
      limits: { pending: 5, requestsPerMinute: 3_000 },
    },
  ]);
  expect(folder.json(["tenants", "limit", "acme", "--requests-per-minute", "60"])).toMatchObject({
    limits: { pending: 5, requestsPerMinute: 60 },
  });
  expect(folder.json(["tenants", "limit", "acme", "--requests-per-minute", "0"])).toHaveProperty("limits", {
    pending: 5,
  });
  const free = ["tenants", "create", "free", "--ledger", "sqlite:free.db", "--requests-per-minute", "0"];
  expect(folder.json(free)).toHaveProperty("limits", {});
  const early = folder.run(["tenants", "erase", "acme", "--confirm", "acme"]);
  expect([early.code, early.stderr]).toEqual([5, expect.stringContaining("is active") as unknown]);
  expect(folder.run(["tenants", "suspend", "acme", "--reason", "unpaid"]).stdout).toContain("suspended");
  expect(folder.run(["tenants", "export", "acme", "--to", "out"]).stdout).toContain("audit verify --db");
  expect(folder.run(["audit", "verify", "--db", "sqlite:out/ledger.db"]).code).toBe(0);
  const untyped = folder.run(["tenants", "erase", "acme"]);
  expect([untyped.code, untyped.stderr]).toEqual([2, expect.stringContaining("--confirm acme") as unknown]);
  expect(folder.run(["tenants", "erase", "acme", "--confirm", "acme"]).stdout).toContain("erased");
  expect(existsSync(file)).toBe(false);
  const told = folder.run(["audit", "log", "--db", "sqlite:countersign-tenants.db"]).stdout;
  for (const state of ["creating", "active", "suspended", "erased"]) expect(told).toContain(`acme: ${state}`);
});
