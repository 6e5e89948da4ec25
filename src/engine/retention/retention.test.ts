import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { placeHold } from "../holds/index.ts";
import { partsOf } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { toPrincipal } from "../people/index.ts";
import { killableEngine } from "../testing/execution.ts";
import {
  type Planned,
  planRetention,
  type RetentionRules,
  type RetentionRun,
  readProgress,
  runRetention,
} from "./index.ts";
import { RunLease } from "./lease.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const decider = { by: toPrincipal({ id: "ops" }), via: "cli" };
const ana = { id: "ana" };

/** By tool; sessions without calls and other tools are kept for ever. */
function rulesOf(days: { readonly [tool: string]: number }): RetentionRules {
  const age = (tools: ReadonlySet<string>): number | undefined => {
    const ages = tools.size === 0 ? [days["-"]] : [...tools].map((tool) => days[tool]);
    const longest = Math.max(...ages.map((one) => one ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(longest) ? longest * DAY_MS : undefined;
  };
  const shortest = Math.min(...Object.values(days)) * DAY_MS;
  return { version: "v1", shortestContentMs: shortest, contentMs: (_app, tools) => age(tools) };
}

/** One that can be set back. */
class SettableClock extends ManualClock {
  behindMs = 0;

  override now(): number {
    return super.now() - this.behindMs;
  }
}

let clock: SettableClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new SettableClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await engine.close();
});

async function make(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await engine.createSession({ app: "bank", user: "ana", id }, { note: "a note" });
}

async function alive(): Promise<readonly string[]> {
  const { items } = await ledger.sessions({ app: "bank" }, { limit: 500 });
  return items.map(({ id }) => id);
}

function run(by: Engine, rules: RetentionRules, batch = 50): Promise<RetentionRun> {
  return runRetention(partsOf(by), { rules, decider, batch, pauseMs: 0 });
}

async function plan(rules: RetentionRules): Promise<readonly Planned[]> {
  const all: Planned[] = [];
  for await (const planned of planRetention(partsOf(engine), rules)) all.push(planned);
  return all;
}

describe("a run", () => {
  test("erases what the plan lists, says so in the journal, and leaves a chain that verifies", async () => {
    await make("old");
    await clock.advance(2 * DAY_MS);
    await make("young");
    const rules = rulesOf({ "-": 1 });
    expect(await plan(rules)).toMatchObject([{ id: "old", goes: "content" }]);
    expect(await alive()).toEqual(["old", "young"]);
    expect(await run(engine, rules)).toEqual({ erased: 1, held: 0, ended: "done" });
    expect(await alive()).toEqual(["young"]);
    expect(await plan(rules)).toEqual([]);
    expect(await ledger.journal.records({ after: 0, limit: 9 })).toMatchObject([
      { kind: "session-pruned", body: { tools: [] } },
      { kind: "retention-run", body: { rules: "v1", erased: 1, held: 0, by: { id: "ops" } } },
    ]);
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test("judges a session by all of its tools", async () => {
    const [read, pay] = ["read", "pay"].map((name) => engine.gate(name, {}, async () => "done"));
    await read?.({}, { key: "k1", by: ana });
    await pay?.({}, { key: "k2", by: ana });
    await clock.advance(2 * DAY_MS);
    expect(await plan(rulesOf({ read: 1, pay: 7 }))).toMatchObject([{ app: "gate:read" }]);
    expect(await plan(rulesOf({ read: 1 }))).toHaveLength(1);
    await clock.advance(6 * DAY_MS);
    expect(await run(engine, rulesOf({ read: 1, pay: 7 }))).toMatchObject({ erased: 2 });
  });

  test("spares what waits, runs or is unknown, however old", async () => {
    const ask = engine.gate("ask", { requireConfirmation: true }, async () => 1);
    await ask({}, { key: "waiting", by: ana });
    await clock.advance(100 * DAY_MS);
    expect(await run(engine, rulesOf({ ask: 1 }))).toMatchObject({ erased: 0 });
  });

  test("leaves a session alone in which something happened after it was judged", async () => {
    await make("s1");
    await clock.advance(2 * DAY_MS);
    const { engine: other, watched } = killableEngine(ledger, clock);
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      await engine.changeState({ app: "bank", user: "ana", id: "s1" }, { note: "new" });
      return pass();
    });
    expect(await run(other, rulesOf({ "-": 1 }))).toMatchObject({ erased: 0 });
    expect(await alive()).toEqual(["s1"]);
  });

  test("keeps what a hold covers that was placed after the plan, while the erasure was on its way", async () => {
    await make("s1", "s2");
    await clock.advance(2 * DAY_MS);
    const rules = rulesOf({ "-": 1 });
    expect(await plan(rules)).toMatchObject([{ goes: "content" }, { goes: "content" }]);
    const { engine: other, watched } = killableEngine(ledger, clock);
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      await placeHold(partsOf(engine), { on: "app", name: "bank", reason: "case 7" }, decider);
      return pass();
    });
    expect(await run(other, rules)).toEqual({ erased: 0, held: 2, ended: "done" });
    expect(await alive()).toEqual(["s1", "s2"]);
    expect(await plan(rules)).toMatchObject([{ goes: "nothing" }, { goes: "nothing" }]);
  });
});

describe("one process at a time", () => {
  test("the second one does nothing until the first is done, or dead for a minute", async () => {
    await make("s1");
    await clock.advance(2 * DAY_MS);
    const rules = rulesOf({ "-": 1 });
    const { engine: dying, watched, crash } = killableEngine(ledger, clock);
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    watched.intercept("sessions", () => {
      crash();
      resolve();
      return new Promise(() => {});
    });
    run(dying, rules).catch(() => {});
    await reached;
    expect(await run(engine, rules)).toEqual({ erased: 0, held: 0, ended: "elsewhere" });
    await clock.advance(60_001);
    expect(await run(engine, rules)).toEqual({ erased: 1, held: 0, ended: "done" });
  });

  test("one that stood still while the next took over has lost its turn, and does not end that of the next", async () => {
    const parts = partsOf(engine);
    const { promise: stands, resolve: goOn } = Promise.withResolvers<void>();
    const first = RunLease.during(parts, "retention", async (lease) => {
      await stands;
      return { goesOn: await lease.goesOn() };
    });
    await clock.advance(60_001);
    const next = await RunLease.during(parts, "retention", async (lease) => {
      goOn();
      const ended = await first;
      const third = await RunLease.during(parts, "retention", async () => ({}));
      return { ended, third, goesOn: await lease.goesOn() };
    });
    expect(next).toEqual({ ended: { goesOn: false }, third: undefined, goesOn: true });
  });

  test("the next one goes on where one died, and does not wait for a clock that was set back", async () => {
    await make("s1", "s2", "s3");
    await clock.advance(2 * DAY_MS);
    const rules = rulesOf({ "-": 1 });
    const { engine: dying, watched, crash } = killableEngine(ledger, clock);
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    let looks = 0;
    watched.intercept("sessions", (pass) => {
      looks += 1;
      if (looks <= 2) return pass();
      crash();
      resolve();
      return new Promise(() => {});
    });
    run(dying, rules, 1).catch(() => {});
    await reached;
    expect(await alive()).toHaveLength(1);
    expect(await readProgress(ledger)).toMatchObject({ cursor: expect.any(String) as string });
    clock.behindMs = DAY_MS / 2;
    expect(await run(engine, rules, 1)).toEqual({ erased: 1, held: 0, ended: "done" });
    expect(await readProgress(ledger)).toEqual({ finishedAt: clock.now() });
  });

  test("a clock that was set back erases nothing early", async () => {
    await make("s1");
    await clock.advance(2 * DAY_MS);
    clock.behindMs = 3 * DAY_MS;
    expect(await run(engine, rulesOf({ "-": 1 }))).toMatchObject({ erased: 0 });
  });
});
