import { expect, test, vi } from "vitest";
import { createDatabase, createEmptyDatabase } from "../../../../test/support/postgres/database.ts";
import { PgBouncer } from "../../../../test/support/postgres/pgbouncer.ts";
import { execute } from "../../../../test/support/postgres/server.ts";
import { useResources } from "../../../../test/support/resources.ts";
import type { Ledger } from "../../../engine/index.ts";
import { migratePostgres, openPostgresLedger } from "../open.ts";

const resources = useResources();
const ADVICE = { code: "ledger-unreachable", message: expect.stringContaining("?prepare=false") as unknown };

/** As another process would: with modules of its own. */
async function openElsewhere(url: string): Promise<Ledger> {
  vi.resetModules();
  const own = await import("../open.ts");
  const ledger = await own.openPostgresLedger({ url: `${url}?pool=1&prepare=true` });
  resources.add(() => ledger.close());
  return ledger;
}

test("behind a pooler that keeps no statements, no process runs what another one prepared", async () => {
  const url = await createDatabase(resources);
  const pooler = await PgBouncer.start(resources, url);
  const one = await pooler.on(0, async () => {
    const ledger = await openElsewhere(pooler.url);
    await ledger.owners.beat({ id: "live", host: "here", pid: 1 }, 60_000);
    expect(await ledger.owners.get("live")).toMatchObject({ fenced: false });
    return ledger;
  });
  await pooler.on(1, async () => {
    const other = await openElsewhere(pooler.url);
    // The third statement of each: here it fences, there it reads.
    await other.owners.get("nobody");
    await other.owners.retire("nobody");
    await other.close();
  });
  const seen = await pooler.on(1, () => one.owners.get("live").catch((error: unknown) => error));
  expect(seen).toMatchObject(seen instanceof Error ? ADVICE : { fenced: false });
  const direct = await openElsewhere(url);
  expect(await direct.owners.get("live")).toMatchObject({ fenced: false });
});

test("a statement that the pooler's connection has already, of another process, is refused at once, with advice", async () => {
  const pooler = await PgBouncer.start(resources, await createDatabase(resources));
  await pooler.on(0, () => openElsewhere(pooler.url));
  const startedAt = performance.now();
  await expect(pooler.on(0, () => openElsewhere(pooler.url))).rejects.toMatchObject(ADVICE);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test("with prepare=false two share a server connection, and migrating leaves no setting on it", async () => {
  const url = await createEmptyDatabase(resources);
  await execute(url, `alter database ${new URL(url).pathname.slice(1)} set statement_timeout = '7s'`);
  const pooler = await PgBouncer.start(resources, url);
  await pooler.on(0, async () => {
    await migratePostgres(`${pooler.url}?prepare=false`);
    for (const id of ["one", "two"]) {
      const ledger = await openPostgresLedger({ url: `${pooler.url}?prepare=false&pool=1` });
      resources.add(() => ledger.close());
      expect(await ledger.owners.beat({ id, host: "here", pid: 1 }, 1_000)).toBe(true);
    }
  });
  const shown = await pooler.on(0, () => execute(pooler.url, "show statement_timeout"));
  expect(shown[0]?.rows).toEqual([{ statement_timeout: "7s" }]);
});
