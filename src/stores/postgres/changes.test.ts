import { once } from "node:events";
import { expect, test } from "vitest";
import { TcpProxy } from "../../../test/support/http/tcp-proxy.ts";
import { connect, createDatabase } from "../../../test/support/postgres/database.ts";
import { PgBouncer } from "../../../test/support/postgres/pgbouncer.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { SessionWriter } from "../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();

async function open(url: string): Promise<Ledger> {
  const ledger = await openPostgresLedger({ url });
  resources.add(() => ledger.close());
  return ledger;
}

function nextChange(ledger: Ledger): Promise<void> {
  return new Promise((resolve) => {
    const stop = ledger.onChange(() => {
      stop();
      resolve();
    });
  });
}

/** Resolves once the ledger has been told of something by its own connection: from then on it listens. */
async function untilListening(ledger: Ledger): Promise<void> {
  await nextChange(ledger);
}

test("a listener hears of other handles' commits after its connection was ended, and of having been deaf", async () => {
  const url = await createDatabase(resources);
  const ledger = await open(url);
  const writer = new SessionWriter(await open(url), "s1");
  await untilListening(ledger);
  const admin = await connect(resources, url);
  for (let round = 0; round < 3; round++) {
    const deaf = nextChange(ledger);
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' or query = 'select 1'",
    );
    await deaf;
    const heard = nextChange(ledger);
    await writer.commit();
    await expect(heard).resolves.toBeUndefined();
  }
});

test("a listener whose connection has fallen silent hears of changes all the same", async () => {
  const url = await createDatabase(resources);
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  const ledger = await open(proxy.through(url));
  await untilListening(ledger);
  proxy.freeze();
  const heard = nextChange(ledger);
  await new SessionWriter(await open(url), "s1").commit();
  proxy.thaw();
  await expect(heard).resolves.toBeUndefined();
});

test("a process that closes right after its commit has told the others", async () => {
  const url = await createDatabase(resources);
  const ledger = await open(url);
  const listener = await connect(resources, url);
  await listener.query("listen countersign");
  const told = once(listener, "notification");
  const short = await open(url);
  await new SessionWriter(short, "s1").commit();
  await short.close();
  await expect(told).resolves.toHaveLength(1);
  await ledger.close();
});

test("a listener that throws is reported, and the others are called", async () => {
  const ledger = await open(await createDatabase(resources));
  const fault = new Error("a listener's fault");
  let thrown = false;
  ledger.onChange(() => {
    if (thrown) return;
    thrown = true;
    throw fault;
  });
  const called = nextChange(ledger);
  const warned = once(process, "warning");
  await new SessionWriter(ledger, "s1").commit();
  await called;
  expect(await warned).toEqual([fault]);
});

test("a closed ledger takes no listener", async () => {
  const ledger = await open(await createDatabase(resources));
  await ledger.close();
  expect(() => ledger.onChange(() => {})).toThrow(expect.objectContaining({ code: "closed" }));
});

test("behind a pooler in transaction mode nothing listens, and changes are noticed all the same", async () => {
  const url = await createDatabase(resources);
  const pooler = await PgBouncer.start(resources, url, { connections: 8 });
  const ledger = await open(pooler.url);
  await untilListening(ledger);
  const admin = await connect(resources, url);
  const { rows } = await admin.query<{ readonly query: string }>(
    "select query from pg_stat_activity where datname = current_database() and application_name = 'countersign'",
  );
  expect(rows.map(({ query }) => query)).not.toContain("listen countersign");
  const heard = nextChange(ledger);
  await new SessionWriter(await open(url), "s1").commit();
  await expect(heard).resolves.toBeUndefined();
});
