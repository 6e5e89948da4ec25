import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient, type StreamMessage } from "../../src/client/index.ts";
import { createLedger } from "../../src/index.ts";
import { type ApprovalsServer, startApprovalsServer } from "../e2e/approvals/approvals-server.ts";
import { execute, PostgresServer } from "../support/postgres/server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const TRIES = 10;

/** Nothing but a synced commit puts on disk what was committed, or as little else as can be. */
const LAZY = [
  "autovacuum=off",
  "bgwriter_lru_maxpages=0",
  "wal_writer_delay=10s",
  "wal_writer_flush_after=1GB",
];

/** Reads the live feed as the inbox does, through whatever happens. */
async function watch(approvals: ApprovalsServer): Promise<readonly StreamMessage[]> {
  const over = new AbortController();
  const messages: StreamMessage[] = [];
  const client = createClient({
    baseUrl: "http://127.0.0.1",
    headers: { authorization: "ana" },
    fetch: (request) => approvals.app.fetch(request),
  });
  const reading = (async () => {
    for await (const message of client.stream({ signal: over.signal })) messages.push(message);
  })();
  resources.add(async () => {
    over.abort();
    await reading;
  });
  await until(() => messages.length > 0);
  return messages;
}

async function until(satisfied: () => boolean): Promise<void> {
  await expect.poll(satisfied, { timeout: 60_000 }).toBe(true);
}

function isTold(messages: readonly StreamMessage[], id: string): boolean {
  return messages.some((message) =>
    message.type === "snapshot"
      ? message.page.items.some((item) => item.id === id)
      : message.type === "confirmation" && message.confirmation.id === id,
  );
}

/** Asks for something, as soon as the database is back. */
async function ask(approvals: ApprovalsServer, amount: number): Promise<string> {
  for (;;) {
    try {
      return (await approvals.say("ana", `pay ${amount}`))[0]?.id ?? "";
    } catch {
      await sleep(100);
    }
  }
}

test("an inbox that stays open through a crash of the database gets everything that was asked since", async () => {
  const server = await PostgresServer.start(LAZY);
  resources.add(() => server.stop());
  const url = server.url("postgres");
  const approvals = await startApprovalsServer(resources, {
    engine: { ledger: await createLedger(url, { migrate: true }) },
  });
  const messages = await watch(approvals);
  const newest = async (): Promise<number> =>
    (await approvals.engine.ledger.journal.records({ after: 0, limit: 1_000 })).at(-1)?.seq ?? 0;
  // A server may sync at any time, by itself. Then nothing is lost, and it is crashed again.
  for (let tries = 1, reused = false; !reused; tries += 1) {
    expect(tries).toBeLessThanOrEqual(TRIES);
    await execute(url, "checkpoint");
    const lost = [await ask(approvals, 1), await ask(approvals, 2)];
    await until(() => lost.every((id) => isTold(messages, id)));
    const before = await newest();
    await server.restart("crash");
    const since = await ask(approvals, 3);
    reused = (await newest()) < before;
    await until(() => isTold(messages, since));
    if (!reused) continue;
    const anew = messages.slice(messages.findLastIndex(({ type }) => type === "reset"));
    expect(anew[0]).toMatchObject({ type: "reset", reason: "from-elsewhere" });
    expect(lost.some((id) => isTold(anew, id))).toBe(false);
  }
  const next = await ask(approvals, 4);
  await until(() => isTold(messages, next));
});
