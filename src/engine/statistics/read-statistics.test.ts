import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { createLedger } from "../../stores/index.ts";
import { Engine, type Ledger, ManualClock, toPrincipal } from "../index.ts";
import { countJournal } from "./count-journal.ts";
import { readStatistics, type Statistics } from "./read-statistics.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) await release();
});

async function open(url = "memory:", clock = new ManualClock()) {
  const ledger = await createLedger(url, { clock });
  const engine = new Engine({ ledger, clock });
  releases.push(() => engine.close());
  const refund = engine.gate(
    "refund",
    { requireConfirmation: true, amendable: true },
    async (_args: { amount: number }) => "sent",
  );
  const ask = async (key: string, amount = 1): Promise<string> => {
    const outcome = await refund({ amount }, { key, by: { id: "ana" } });
    if (outcome.status !== "pending") throw new Error(`it is ${outcome.status}`);
    return outcome.confirmation.id;
  };
  return { clock, ledger, engine, ask };
}

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-statistics-"));
  releases.push(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, "ledger.db")}`;
}

const everybody = (ledger: Ledger, days = 30): Promise<Statistics> =>
  readStatistics(ledger, { days, of: "everybody" });
const boss = { id: "boss" };

test("asked, approved, amended, denied and waiting are counted by day, tool and approver", async () => {
  const { clock, ledger, engine, ask } = await open();
  const [one, two, three] = [await ask("1"), await ask("2"), await ask("3")];
  await clock.advance(2 * MINUTE);
  await engine.approve(one, { by: boss });
  await engine.approve(two, { by: { id: "zoe" }, args: { amount: 2 } });
  await clock.advance(DAY);
  await engine.deny(three, { by: boss });
  await ask("4");
  const found = await everybody(ledger);
  expect(found).toMatchObject({ of: "everybody", behind: false, waiting: { count: 1, capped: false } });
  expect(found.total).toMatchObject({ asked: 4, approved: 2, amended: 1, denied: 1, expired: 0, unknown: 0 });
  expect(found.days.slice(-2).map(({ asked, approved, denied }) => [asked, approved, denied])).toEqual([
    [3, 2, 0],
    [1, 0, 1],
  ]);
  expect(found.tools).toMatchObject([
    { app: "gate:refund", tool: "refund", asked: 4, approved: 2, denied: 1 },
  ]);
  expect(found.approvers).toMatchObject([
    { approver: "boss", approved: 1, denied: 1 },
    { approver: "zoe", approved: 1, amended: 1, denied: 0 },
  ]);
  const { median = 0, p95 = 0 } = found.total.decisionSeconds ?? {};
  expect(Math.abs(median - 120)).toBeLessThanOrEqual(6);
  expect(Math.abs(p95 - 86_520)).toBeLessThanOrEqual(4_326);
});

test("somebody sees the numbers of their own decisions and of what waits for them, and nobody else's", async () => {
  const { ledger, engine, ask } = await open();
  await engine.approve(await ask("1"), { by: boss });
  await engine.deny(await ask("2"), { by: { id: "zoe" } });
  await ask("3");
  const of = (id: string): Promise<Statistics> =>
    readStatistics(ledger, { days: 1, of: { ...toPrincipal({ id }), kind: "oidc", authenticated: true } });
  const zoe = await of("zoe");
  expect(zoe.total).toEqual({
    approved: 0,
    amended: 0,
    denied: 1,
    decisionSeconds: expect.anything() as object,
  });
  expect(zoe.waiting.count).toBe(0);
  expect(JSON.stringify(zoe)).not.toMatch(/boss|asked/);
  // The third is ana's own request; she has decided nothing.
  const ana = await of("ana");
  expect(ana).toMatchObject({ of: "own", waiting: { count: 1 }, tools: [], approvers: [] });
  const stranger = await of("max");
  expect(stranger).toMatchObject({ waiting: { count: 0 }, tools: [], approvers: [], ruleCandidates: [] });
  expect(JSON.stringify(stranger)).not.toContain("refund");
});

test("nothing is counted twice, however many count at once and after a restart", async () => {
  const url = newFile();
  const clock = new ManualClock();
  const first = await open(url, clock);
  await first.engine.approve(await first.ask("1"), { by: boss });
  const second = await open(url, clock);
  const looks = await Promise.all([first, second, first, second].map(({ ledger }) => everybody(ledger)));
  for (const { total } of looks) expect(total).toMatchObject({ asked: 1, approved: 1 });
  await second.ask("2");
  expect((await everybody(first.ledger)).total).toMatchObject({ asked: 2, approved: 1 });
});

test("a process that dies between a day and the place leaves nothing to be counted twice", async () => {
  const { clock, ledger, engine, ask } = await open();
  await engine.approve(await ask("1"), { by: boss });
  await clock.advance(DAY);
  await engine.approve(await ask("2"), { by: boss });
  // At the first day; at the second, when the first is stored; at the place, when both are.
  for (const allowed of [0, 1, 1]) {
    let puts = 0;
    const put: Ledger["items"]["put"] = async (...args) => {
      puts += 1;
      if (puts > allowed) throw new Error("killed");
      return ledger.items.put(...args);
    };
    await expect(countJournal(wrapLedger(ledger, { items: { put } }), 1_000)).rejects.toThrow("killed");
  }
  const found = await everybody(ledger);
  expect(found.total).toMatchObject({ asked: 2, approved: 2 });
  expect(found.days.slice(-2).map(({ approved }) => approved)).toEqual([1, 1]);
});

test("a long journal is counted in several looks, and says so until it has been", async () => {
  const { ledger, ask } = await open();
  for (let i = 0; i < 600; i += 1) await ask(String(i));
  expect(await countJournal(ledger, 100)).toEqual({ behind: true });
  const found = await everybody(ledger);
  expect([found.behind, found.total.asked, found.waiting.count]).toEqual([false, 600, 600]);
});

test("records of days that are no longer kept are passed over without a load", async () => {
  const { clock, ledger, engine, ask } = await open();
  await engine.approve(await ask("1"), { by: boss });
  await clock.advance(101 * DAY);
  let loads = 0;
  const load = (async (...args: Parameters<Ledger["load"]>) => {
    loads += 1;
    return ledger.load(...args);
  }) as Ledger["load"];
  expect(await countJournal(wrapLedger(ledger, { load }), 1_000)).toEqual({ behind: false });
  expect(loads).toBe(0);
});

test("of a rule without an id nothing is kept, least of all its reason", async () => {
  const { ledger, clock } = await open();
  const verdict = { outcome: "confirm", reason: "Ana Maria is on leave." } as const;
  const engine = new Engine({ ledger, clock, policy: () => verdict });
  const pay = engine.gate("pay", {}, async () => "paid");
  await pay({}, { key: "1", by: { id: "ana" } });
  expect((await everybody(ledger)).total).toMatchObject({ asked: 1 });
  const { items } = await ledger.items.list("statistics of day 1");
  expect(items).toHaveLength(1);
  expect(JSON.stringify(items)).not.toContain("Maria");
});

test("a month of approvals without a change makes a candidate; one denial, change or expiry ends it", async () => {
  const { clock, ledger, engine, ask } = await open();
  for (let i = 0; i < 10; i += 1) {
    await engine.approve(await ask(`a${i}`), { by: boss });
    await clock.advance(3 * DAY);
  }
  const [candidate, ...others] = (await everybody(ledger)).ruleCandidates;
  expect(others).toEqual([]);
  expect(candidate).toMatchObject({ app: "gate:refund", tool: "refund", approved: 10, rules: [] });
  expect(candidate?.yaml).toBe(
    '- id: "allow-refund"\n  match: { tool: "refund", app: "gate:refund" }\n  then: allow\n',
  );
  await engine.deny(await ask("b"), { by: boss });
  expect((await everybody(ledger)).ruleCandidates).toEqual([]);
});

test("a day has room for so many names; the rest is counted without one", async () => {
  const { ledger, engine, ask } = await open();
  for (let i = 0; i < 310; i += 1) await engine.deny(await ask(`k${i}`), { by: { id: `boss${i}` } });
  const found = await everybody(ledger);
  expect(found.total).toMatchObject({ asked: 310, denied: 310 });
  expect(found.approvers).toHaveLength(100);
  expect(found.tools.map(({ tool }) => tool)).toEqual(["refund", ""]);
});
