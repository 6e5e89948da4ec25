import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import type { Verification } from "../audit/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { placeHold, releaseHold } from "../holds/index.ts";
import { partsOf } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { toPrincipal } from "../people/index.ts";
import { killableEngine } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { type RetentionRules, type RetentionRun, runRetention } from "./index.ts";

const SECRET = "a secret that only the processes know";
const DAY_MS = 24 * 60 * 60 * 1_000;
const decider = { by: toPrincipal({ id: "ops" }), via: "cli" };
const ana = { id: "ana" };

/** Content goes after a day, the journal after ten; that of the tool "wire" is kept for ever. */
const RULES: RetentionRules = {
  version: "v1",
  shortestContentMs: DAY_MS,
  contentMs: () => DAY_MS,
  journal: {
    shortestMs: 10 * DAY_MS,
    keepMs: (_app, tools) => (tools.has("wire") ? undefined : 10 * DAY_MS),
  },
};

let folder: string;
let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;
let ran: number;

function gateOf(tool: string) {
  return engine.gate(tool, { requireConfirmation: true, redefine: true }, async () => {
    ran += 1;
    return "paid";
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  ran = 0;
  clock = new ManualClock();
  ledger = await createLedger(`sqlite:${join(folder, "ledger.db")}`, { clock });
  engine = new Engine({ ledger, clock, secret: SECRET });
});

afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

function run(by: Engine = engine, batch = 50): Promise<RetentionRun> {
  return runRetention(partsOf(by), { rules: RULES, decider, batch, pauseMs: 0 });
}

/** Calls that somebody approved. */
async function pay(keys: readonly string[], tool = "pay"): Promise<void> {
  const gated = gateOf(tool);
  for (const key of keys) {
    const outcome = await gated({ key }, { key, by: ana });
    const id = outcome.status === "pending" ? outcome.confirmation.id : "";
    const receipt = await tryApprove(engine, id, { by: { id: "boss" } });
    if (receipt.ok) await receipt.finished;
  }
  await engine.head();
}

/** Two calls whose content was erased, and whose journal is past its age. */
async function age(keys: readonly string[] = ["one", "two"]): Promise<void> {
  await pay(keys);
  await clock.advance(2 * DAY_MS);
  await run();
  await engine.head();
  await clock.advance(11 * DAY_MS);
}

function tamper(sql: string): void {
  const shell = new DatabaseSync(join(folder, "ledger.db"));
  shell.exec(sql);
  shell.close();
}

function rows(where = "true"): number {
  const shell = new DatabaseSync(join(folder, "ledger.db"));
  const found = shell.prepare(`select count(*) as n from log where ${where}`).get() as { readonly n: number };
  shell.close();
  return found.n;
}

const OF_CALLS = "session in (select key from documents where app like 'gate:%')";

function faultsOf({ ok, faults }: Verification): string {
  expect(ok).toBe(faults.length === 0);
  return faults.map(({ where, what }) => `${where}: ${what}`).join("\n");
}

async function keyOf(id: string, tool = "pay"): Promise<string> {
  const found = await ledger.load({ session: { app: `gate:${tool}`, user: "gate", id } });
  return found?.session.key ?? "";
}

describe("pruning the journal", () => {
  test("removes the lines of erased sessions past their age; what is left verifies and tells of it", async () => {
    await age();
    await pay(["young"]);
    const before = await engine.verify();
    const head = await engine.head();
    expect(rows(OF_CALLS)).toBeGreaterThan(7);
    expect((await run()).journal).toMatchObject({ sessions: 2, held: 0, unsound: 0 });
    expect(rows(`session = '${await keyOf("one")}'`)).toBe(0);
    const after = await engine.verify({ head });
    expect(faultsOf(after)).toBe("");
    expect(after.records).toBeLessThan(before.records);
    expect(after.pruned).toMatchObject({ sessions: 2, by: "ops", via: "cli", rules: "v1" });
    expect(after.pruned?.head).toMatch(/^\d+:/);
    expect(after.cannotDetect.join(" ")).toContain("of 2 sessions that were pruned");
  });

  test("removes nothing twice, and goes on with what ages later", async () => {
    await age();
    await run();
    expect((await run()).journal).toMatchObject({ sessions: 0 });
    await age(["three", "four"]);
    expect((await run()).journal).toMatchObject({ sessions: 2 });
    const checked = await engine.verify();
    expect(faultsOf(checked)).toBe("");
    expect(checked.pruned).toMatchObject({ sessions: 4 });
  });

  test("works for any number in small batches, and on a store in memory", async () => {
    await engine.close();
    ledger = await createLedger("memory:", { clock });
    engine = new Engine({ ledger, clock, secret: SECRET });
    const keys = Array.from({ length: 60 }, (_, n) => `k${n}`);
    await pay(keys);
    await clock.advance(2 * DAY_MS);
    await run();
    await pay(["young"]);
    await clock.advance(11 * DAY_MS);
    expect((await run(engine, 7)).journal).toMatchObject({ sessions: 60 });
    expect(faultsOf(await engine.verify())).toBe("");
    const { items } = await ledger.confirmations({ state: "closed" }, { limit: 100 });
    expect(items).toHaveLength(1);
  });

  test("what ran under a name never runs again under it, and nothing follows in the session", async () => {
    await age();
    await run();
    const before = ran;
    await expect(gateOf("pay")({ key: "one" }, { key: "one", by: ana })).rejects.toThrow(/pruned/);
    expect(ran).toBe(before);
    const name = { app: "gate:pay", user: "gate", id: "one" };
    expect(await engine.createSession(name)).toMatchObject({ ok: false, code: "session-deleted" });
    expect(await engine.deleteSession(name, ana)).toMatchObject({ ok: false });
    expect(faultsOf(await engine.verify())).toBe("");
  });

  test("keeps what the rules keep, what is not erased, and what waits", async () => {
    await pay(["kept"], "wire");
    await gateOf("pay")({ key: "open" }, { key: "open", by: ana });
    await age();
    const left = rows();
    expect((await run()).journal).toMatchObject({ sessions: 2 });
    expect(rows()).toBeLessThan(left);
    expect(rows(`session = '${await keyOf("kept", "wire")}'`)).toBeGreaterThan(0);
    expect(rows(`session = '${await keyOf("open")}'`)).toBeGreaterThan(0);
    expect(faultsOf(await engine.verify())).toBe("");
  });

  test.each([
    ["the session", async () => ({ on: "session", name: await keyOf("one") }) as const, 1],
    ["the app", async () => ({ on: "app", name: "gate:pay" }) as const, 2],
    ["somebody who decided", async () => ({ on: "user", name: "boss" }) as const, 2],
  ])("a legal hold on %s keeps it", async (_, target, held) => {
    await age();
    await placeHold(partsOf(engine), { ...(await target()), reason: "case 7" }, decider);
    expect((await run()).journal).toMatchObject({ sessions: 2 - held, held });
    expect(faultsOf(await engine.verify())).toBe("");
  });

  test("a hold that is placed while a session is about to be buried keeps it", async () => {
    await age();
    const { engine: other, watched } = killableEngine(ledger, clock, { secret: SECRET });
    watched.intercept("bury", async (pass) => {
      watched.lift("bury");
      await placeHold(partsOf(engine), { on: "app", name: "gate:pay", reason: "case 7" }, decider);
      return pass();
    });
    expect((await run(other)).journal).toMatchObject({ sessions: 0 });
    expect(rows(OF_CALLS)).toBeGreaterThan(7);
    expect(faultsOf(await engine.verify())).toBe("");
  });
});

describe("a process that dies", () => {
  test.each(["bury", "commit", "journal.dropLines"] as const)(
    "at %s is continued by the next run",
    async (method) => {
      await age();
      await run();
      await pay(["three", "four", "five"]);
      await clock.advance(2 * DAY_MS);
      await run();
      await engine.head();
      await clock.advance(11 * DAY_MS);
      const { engine: killed, watched } = killableEngine(ledger, clock, { secret: SECRET });
      // Every time that it gets there: the first, the second, and so on.
      for (let nth = 1; nth < 9; nth += 1) {
        let count = 0;
        watched.intercept(method, (pass) => {
          count += 1;
          return count >= nth ? Promise.reject(new Error("killed")) : pass();
        });
        const died = await run(killed, 2).then(
          () => false,
          () => true,
        );
        expect(faultsOf(await engine.verify())).toBe("");
        await clock.advance(120_000);
        if (!died) break;
      }
      watched.lift(method);
      await run();
      const checked = await engine.verify();
      expect(faultsOf(checked)).toBe("");
      expect(checked.pruned).toMatchObject({ sessions: 5 });
      expect(rows(OF_CALLS)).toBe(0);
    },
  );

  test("what it buried and a hold kept since goes when the hold is released", async () => {
    await age();
    const { engine: killed, watched } = killableEngine(ledger, clock, { secret: SECRET });
    watched.intercept("bury", (pass) => {
      watched.intercept("commit", () => Promise.reject(new Error("killed")));
      return pass();
    });
    await expect(run(killed)).rejects.toThrow("killed");
    await clock.advance(120_000);
    const hold = { on: "app", name: "gate:pay", reason: "case 7" } as const;
    const { id } = await placeHold(partsOf(engine), hold, decider);
    await pay(["three"], "wire");
    await clock.advance(11 * DAY_MS);
    expect((await run()).journal).toMatchObject({ sessions: 0, held: 2 });
    await releaseHold(partsOf(engine), { id, reason: "closed" }, decider);
    expect((await run()).journal).toMatchObject({ sessions: 2 });
    expect(rows(`session = '${await keyOf("one")}'`)).toBe(0);
    expect(faultsOf(await engine.verify())).toBe("");
  });

  test("two that prune at once remove every session once", async () => {
    await age();
    const other = new Engine({ ledger, clock, secret: SECRET });
    const runs = await Promise.all([run(), run(other)]);
    expect(runs.map(({ ended }) => ended).sort()).toEqual(["done", "elsewhere"]);
    expect((await engine.verify()).pruned).toMatchObject({ sessions: 2 });
    expect(faultsOf(await engine.verify())).toBe("");
  });
});

const DIARY = "session in (select key from documents where app = 'countersign:retention')";
const KEPT = "session in (select key from documents where app = 'gate:wire')";

interface Attack {
  readonly name: string;
  readonly sql: string;
  readonly found: string;
}

const ATTACKS: readonly Attack[] = [
  {
    name: "a kept line is removed below the boundary",
    sql: `delete from log where ${KEPT} and n = 2`,
    found: "commits up to",
  },
  {
    name: "a kept session is removed completely, and marked as pruned",
    sql: `delete from log where ${KEPT};
      update documents set deleted = 1, body = json_set(body, '$.head.pruned', json('{}')) where app = 'gate:wire'`,
    found: "commits up to",
  },
  {
    name: "a session above the boundary is removed, and marked as pruned",
    sql: `delete from log where session in (select key from documents where id = 'young');
      update documents set deleted = 1, body = json_set(body, '$.head.pruned', json('{}')) where id = 'young'`,
    found: "it covers",
  },
  {
    name: "the record of pruning is changed",
    sql: `update log set body = replace(body, '"rows":', '"rows":1') where ${DIARY} and kinds like '%journal-pruned%'`,
    found: "its body was changed",
  },
  {
    name: "who pruned is changed",
    sql: `update log set body = replace(body, '"ops"', '"eve"') where ${DIARY}`,
    found: "its body was changed",
  },
  {
    name: "the records of pruning are removed",
    sql: `delete from log where ${DIARY} and kinds like '%journal-pruned%'`,
    found: "it covers",
  },
  {
    name: "the checkpoint at the boundary is moved further",
    sql: "delete from checkpoints where k <= 2",
    found: "checkpoint 1 is missing",
  },
  {
    name: "a line is put back",
    sql: `insert into log (seq, session, n, at, kinds, digest, hash, events, body)
      select (select min(l.seq) + 1 from log l where not exists (select 1 from log m where m.seq = l.seq + 1)), session, 99, at, kinds, digest, hash, events, body from log where ${KEPT} and n = 1`,
    found: "commits up to",
  },
];

describe("what somebody with the database can do", () => {
  test.each(ATTACKS)("$name: found", async ({ sql, found }) => {
    await pay(["kept"], "wire");
    await age();
    await pay(["young"]);
    await run();
    await engine.head();
    expect(faultsOf(await engine.verify())).toBe("");
    tamper(sql);
    expect(faultsOf(await engine.verify())).toContain(found);
  });

  test("what was changed before is not pruned, and neither is anything else", async () => {
    await age();
    tamper("update log set at = at - 1 where seq = 1");
    const left = rows();
    expect((await run()).journal).toMatchObject({ unsound: 1, sessions: 1 });
    expect(rows()).toBeGreaterThan(left / 3);
    expect(faultsOf(await engine.verify())).toContain("its hash does not match");
  });

  test("a line that was removed before is not hidden by pruning the others", async () => {
    await age();
    tamper(`delete from log where seq = 2`);
    const left = rows();
    await expect(run()).rejects.toThrow(/nothing of it is pruned: checkpoint 1/);
    expect(rows()).toBe(left);
  });

  test("a document that only says that its session was erased is not believed", async () => {
    await pay(["fresh"]);
    await clock.advance(11 * DAY_MS);
    await engine.head();
    tamper(
      `update documents set deleted = 1, body = json_set(body, '$.head.deletedAt', 1, '$.head.updatedAt', 1), updated_at = 1 where id = 'fresh'`,
    );
    const left = rows();
    expect((await run()).journal).toMatchObject({ sessions: 0 });
    expect(rows()).toBeGreaterThanOrEqual(left);
  });

  test("a diary that was changed ends it", async () => {
    await age();
    await run();
    await engine.head();
    tamper(`update log set body = replace(body, '"ops"', '"eve"') where ${DIARY}`);
    await expect(run()).rejects.toThrow(/nothing of it is pruned/);
  });
});
