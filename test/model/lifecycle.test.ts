import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Ledger, ManualClock } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { anyCommands, openOnBoth } from "./commands.ts";
import { Model } from "./model.ts";
import { replayJournal } from "./replay-journal.ts";
import { World } from "./world.ts";

interface Store {
  readonly name: string;
  readonly runs: number;
  readonly open: (
    clock: ManualClock,
  ) => Promise<{ readonly ledger: Ledger; readonly release: () => Promise<void> }>;
}

const STORES: readonly Store[] = [
  {
    name: "SQLite in memory",
    runs: 150,
    async open(clock) {
      const ledger = await createLedger("memory:", { clock });
      return { ledger, release: () => ledger.close() };
    },
  },
  {
    name: "SQLite in a file",
    runs: 25,
    async open(clock) {
      const folder = mkdtempSync(join(tmpdir(), "countersign-"));
      const ledger = await createLedger(`sqlite:${join(folder, "ledger.db")}`, { clock });
      const release = async (): Promise<void> => {
        await ledger.close();
        rmSync(folder, { recursive: true });
      };
      return { ledger, release };
    },
  },
];

/** What must have happened in the course of the runs. */
const CHANGES: readonly string[] = [
  "waiting > ready",
  "waiting > denied",
  "waiting > expired",
  "waiting > cancelled",
  "ready > executing",
  "ready > cancelled",
  "executing > succeeded",
  "executing > failed",
  "executing > suspended",
  "executing > unknown",
  "executing > executing",
  "suspended > ready",
  "suspended > denied",
  "suspended > expired",
  "suspended > cancelled",
  "unknown > late result",
  "unknown > succeeded, settled",
  "unknown > failed, settled",
  "unknown > ready",
];

/** The journal, replayed from its start, tells of every call and every question what the ledger says now. */
async function expectReplayed(model: Model, world: World): Promise<void> {
  const told = await replayJournal(world.ledger);
  for (const call of model.calls) {
    const stored = await world.callOf(call.tool, call.key);
    expect(told.erased.has(stored.session), call.key).toBe(call.deleted);
    if (call.deleted) continue;
    expect(told.calls.get(stored.id), call.key).toEqual({ status: stored.status, attempt: stored.attempt });
    for (const { id, status } of await world.questionsOf(call.tool, call.key)) {
      expect(told.confirmations.get(id), id).toBe(status);
    }
  }
}

const seen = new Set<string>();

describe.each(STORES)("on $name", ({ open, runs }) => {
  test("any sequence of commands leaves the ledger as the model has it, and its journal tells the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands([...anyCommands], { maxCommands: 100, size: "max" }), async (commands) => {
        const clock = new ManualClock();
        const { ledger, release } = await open(clock);
        const model = new Model(clock.now(), seen);
        const world = new World(ledger, clock);
        try {
          for (const tool of ["once", "again", "free"] as const) await openOnBoth(model, world, tool);
          await fc.asyncModelRun(() => ({ model, real: world }), commands);
          await expectReplayed(model, world);
          const engine = world.decider;
          expect(await engine.verify({ head: await engine.head() })).toMatchObject({ ok: true, faults: [] });
        } finally {
          await release();
        }
      }),
      { numRuns: runs },
    );
  });
});

// Sequences in which next to nothing happens would prove next to nothing.
test("those sequences have shown every change that a call can undergo", () => {
  expect(CHANGES.filter((change) => !seen.has(change))).toEqual([]);
});
