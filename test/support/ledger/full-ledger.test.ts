import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadedSession, loadHistory, loadPending } from "../../../bench/bulk-load.ts";
import { openLedger, ScriptedAgent } from "../../../bench/contenders/engine.ts";
import { emptyLedger } from "../../../bench/postgres.ts";
import { APP, DEFINITION_DIGEST, USER } from "../../../bench/scenario.ts";
import { Engine, type Ledger } from "../../../src/engine/index.ts";
import { PostgresServer } from "../postgres/server.ts";
import { fillLedger } from "./full-ledger.ts";
import { FULL, fullSession } from "./full-session.ts";

const PENDING = 1_000;
const EVENTS = 250;
const SESSIONS = 2;
const LONG_MS = 120_000;

let folder: string;
let server: PostgresServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "full-"));
  server = await PostgresServer.start();
}, LONG_MS);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
}, LONG_MS);

async function withAgent(
  ledger: Ledger,
  use: (agent: ScriptedAgent, runs: () => number) => Promise<void>,
): Promise<void> {
  let runs = 0;
  const agent = new ScriptedAgent(new Engine({ ledger, hostName: "test" }), ({ amount }) => {
    runs += 1;
    return { ok: true, amount };
  });
  try {
    await use(agent, () => runs);
  } finally {
    await agent.engine.close();
  }
}

const LEDGERS = {
  sqlite: async () => {
    const file = join(folder, "pending.db");
    await loadPending(file, PENDING);
    return openLedger("sqlite", file);
  },
  postgres: async () => {
    const url = await emptyLedger(server);
    await fillLedger(url, { pending: PENDING, definitionDigest: DEFINITION_DIGEST, oneApp: true });
    return openLedger("postgres", url);
  },
} as const;

describe.each(Object.entries(LEDGERS))("a filled ledger on %s", (_store, open) => {
  test("is listed, searched, decided on and verified like one that was written by an engine", async () => {
    const ledger = await open();
    await withAgent(ledger, async (agent, runs) => {
      const page = await ledger.confirmations({ state: "open", tool: FULL.tool }, { limit: 50 });
      expect(page.items.length).toBe(50);
      const found = await ledger.confirmations({ state: "open", words: "close_acc" }, { limit: 50 });
      expect(found.items.map(({ confirmation }) => confirmation.id)).toEqual([fullSession(7).confirmation]);

      for (const n of [0, 501, PENDING - 1])
        await agent.approve(fullSession(n).confirmation, fullSession(n).frame);
      expect(runs()).toBe(3);
      const decided = await ledger.load({ confirmation: fullSession(501).confirmation });
      expect([decided?.confirmation?.status, decided?.call?.status]).toEqual(["approved", "succeeded"]);

      const { key } = fullSession(0);
      expect((await ledger.events(key)).length).toBeGreaterThan(3);
      expect(await agent.engine.verify()).toMatchObject({ ok: true, streams: PENDING, faults: [] });
    });
  });
});

test("a filled history is read, gone on with and verified", async () => {
  const file = join(folder, "history.db");
  await loadHistory(file, EVENTS, SESSIONS);
  const ledger = await openLedger("sqlite", file);
  await withAgent(ledger, async (agent) => {
    const session = { app: APP, user: USER, id: loadedSession(1) };
    const key = (await ledger.load({ session }))?.session.key ?? "";
    expect((await ledger.events(key)).length).toBe(EVENTS);
    expect((await ledger.events(key, { last: 20 })).length).toBe(20);
    const { confirmation, frame } = await agent.ask(session.id);
    await agent.approve(confirmation, frame.id);
    expect((await ledger.events(key)).length).toBeGreaterThan(EVENTS);
    expect(await agent.engine.verify()).toMatchObject({ ok: true, streams: SESSIONS, faults: [] });
  });
});
