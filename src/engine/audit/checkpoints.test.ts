import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rewriteConsistently } from "../../../test/support/ledger/rewrite-file.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, type LedgerMethod } from "../testing/execution.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";
import type { Verification } from "./verify.ts";

const SECRET = "a secret that only the processes know";
const PAGE = 500;
const ana = { id: "ana" };

let folder: string;
let path: string;
let clock: ManualClock;
const opened: Ledger[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  path = join(folder, "ledger.db");
  clock = new ManualClock();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
  rmSync(folder, { recursive: true });
});

async function openEngine(options: { readonly secret?: string } = {}): Promise<Engine> {
  const ledger = await createLedger(`sqlite:${path}`, { clock });
  opened.push(ledger);
  return new Engine({ ledger, clock, ...options });
}

/** Six sessions with everything that can happen in them, sealed twice on the way. */
async function busyLedger(options: { readonly secret?: string } = {}): Promise<Engine> {
  const engine = await openEngine(options);
  const pay = engine.gate("pay", { requireConfirmation: true, expiresInMs: 1_000 }, async () => "paid");
  const ids: string[] = [];
  for (const key of ["approved", "denied", "cancelled", "expired", "deleted", "open"]) {
    await clock.advance(1);
    const outcome = await pay({ key }, { key, by: ana });
    if (outcome.status === "pending") ids.push(outcome.confirmation.id);
  }
  const [approved = "", denied = "", cancelled = "", , deleted = ""] = ids;
  await engine.head();
  const receipt = await tryApprove(engine, approved, { by: ana });
  if (receipt.ok) await receipt.finished;
  await engine.deny(denied, { by: ana, reason: "no" });
  await engine.decisions.cancel(cancelled, { by: ana, reason: "not needed" });
  await tryDeny(engine, deleted, { by: { id: "eve", kind: "token" } });
  await engine.deleteSession({ app: "gate:pay", user: "gate", id: "deleted" }, ana);
  await engine.head();
  await clock.advance(2_000);
  await engine.work({ once: true });
  return engine;
}

/** Somebody with the file and a SQLite shell. */
function tamper(...statements: readonly string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of statements) {
    expect(Number(database.prepare(statement).run().changes), statement).toBeGreaterThan(0);
  }
  database.close();
}

function faults({ ok, faults: found }: Verification): string {
  expect(ok).toBe(found.length === 0);
  return found.map(({ where, what }) => `${where}: ${what}`).join("\n");
}

describe("verify", () => {
  test("finds nothing in a ledger in which everything has happened", async () => {
    const engine = await busyLedger();
    const verification = await engine.verify({ head: await engine.head() });
    expect(verification).toMatchObject({ ok: true, faults: [], streams: 6, checkpoints: 3 });
    expect(verification.records).toBe(
      (await engine.ledger.journal.records({ after: 0, limit: PAGE })).length,
    );
  });

  test("finds nothing in an empty ledger, whose head is also a head", async () => {
    const engine = await openEngine();
    expect(await engine.head()).toBe("0:empty");
    expect(await engine.verify({ head: "0:empty" })).toMatchObject({ ok: true, records: 0, streams: 0 });
  });

  test("finds nothing while others write: a chain that grows under the look is no fault", async () => {
    const writer = await busyLedger();
    const { engine, watched } = killableEngine(writer.ledger, clock);
    const [open] = (await writer.ledger.confirmations({ state: "closed" })).items;
    watched.intercept("journal.sessionRows", async (pass) => {
      await tryDeny(writer, open?.confirmation.id ?? "", { by: { id: "eve", kind: "agent" } });
      return pass();
    });
    expect(faults(await engine.verify())).toBe("");
  });

  test.each([
    [
      "an altered body",
      "update log set body = replace(body, 'ana', 'eve') where kinds like '%confirmation-approved%'",
      "its body was changed",
    ],
    [
      "an altered time",
      "update log set at = at + 1 where kinds like '%confirmation-approved%'",
      "its hash does not match",
    ],
    [
      "an altered kind",
      "update log set kinds = replace(kinds, 'confirmation-denied', 'confirmation-approved') where kinds like '%confirmation-denied%'",
      "its hash does not match",
    ],
    [
      "an altered digest",
      "update log set digest = 'x', body = null where kinds like '%confirmation-denied%'",
      "its hash does not match",
    ],
    [
      "a record removed from the middle",
      "delete from log where kinds like '%confirmation-requested%' and session = (select session from log where kinds like '%confirmation-denied%')",
      "is missing",
    ],
    [
      "a record removed from the end of a chain",
      "delete from log where kinds like '%confirmation-denied%'",
      "its chain ends at commit 1, but the session says 2",
    ],
    [
      "a chain's head set back with its record",
      "delete from log where kinds like '%confirmation-denied%'; update documents set body = json_set(body, '$.head.chain.n', 1, '$.head.chain.hash', (select hash from log where session = documents.key and n = 1)) where id = 'denied'",
      "but the journal has different ones",
    ],
    [
      "records that changed places",
      "update log set seq = 1001 where seq = 2; update log set seq = 2 where seq = 3; update log set seq = 3 where seq = 1001",
      "but the journal has different ones",
    ],
    [
      "a removed session with its records",
      "delete from log where session = (select key from documents where id = 'denied'); delete from documents where id = 'denied'",
      "but the journal has different ones",
    ],
    [
      "a removed session whose records were altered",
      "update log set body = replace(body, 'ana', 'eve') where kinds like '%confirmation-denied%'; delete from documents where id = 'denied'",
      "belong to no session",
    ],
    ["a removed checkpoint", "delete from checkpoints where k = 2", "checkpoint 2 is missing"],
    [
      "an altered checkpoint",
      "update checkpoints set count = count - 1 where k = 2",
      "its hash does not match",
    ],
    [
      "an invented record",
      "insert into log (seq, session, n, at, kinds, digest, hash, events) select 5000, session, n + 1, at, kinds, digest, hash, events from log where kinds like '%confirmation-denied%'",
      "its hash does not match",
    ],
  ])("finds %s", async (_what, statements, fault) => {
    const engine = await busyLedger();
    await engine.head();
    tamper(...statements.split("; "));
    expect(faults(await engine.verify())).toContain(fault);
  });

  test("reports one removed record once for its chain and once for its checkpoint, not for every later one", async () => {
    const engine = await busyLedger();
    await engine.head();
    tamper("delete from log where kinds like '%confirmation-denied%'");
    const { faults: found } = await engine.verify();
    expect(found.filter(({ where }) => where.startsWith("session"))).toHaveLength(1);
    expect(found.filter(({ where }) => where.startsWith("checkpoint")).length).toBeLessThanOrEqual(2);
  });

  test("finds that the end was cut off, if it is given a head that was kept elsewhere", async () => {
    const engine = await busyLedger();
    const [before] = await engine.ledger.journal.checkpoints(1, 1);
    const head = await engine.head();
    tamper(
      `delete from log where seq > ${before?.lastSeq}`,
      `delete from checkpoints where k > ${before?.k}`,
      "update documents set body = json_set(body, '$.head.chain.n', (select count(*) from log where session = key), '$.head.chain.hash', coalesce((select hash from log where session = key order by n desc limit 1), ''))",
    );
    const alone = await engine.verify();
    expect(alone.ok).toBe(true);
    expect(alone.cannotDetect.join()).toContain("Without --head");
    expect(faults(await engine.verify({ head }))).toContain("the journal was truncated or rewritten");
  });

  test("takes an older head too: what came after it may only have been added", async () => {
    const engine = await busyLedger();
    const head = await engine.head();
    await clock.advance(1);
    const pay = engine.gate("more", { requireConfirmation: true }, async () => 1);
    await pay({}, { key: "k", by: ana });
    await engine.head();
    expect(faults(await engine.verify({ head }))).toBe("");
  });

  test.each(["", "x", "1", "1:", "-1:abc", "1.5:abc"])("refuses %j as a head", async (head) => {
    const engine = await openEngine();
    expect(faults(await engine.verify({ head }))).toContain("not a head");
  });

  test("stops counting faults at a hundred, so that a ruined ledger does not fill the memory", async () => {
    const engine = await openEngine();
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => 1);
    for (let n = 0; n < 120; n++) await pay({}, { key: `${n}`, by: ana });
    tamper("update log set at = at + 1");
    expect((await engine.verify()).faults).toHaveLength(100);
  });
});

describe("a rewrite of everything, consistent in itself", () => {
  test("is not found without a secret, and verify says that it could not have found it", async () => {
    const engine = await busyLedger();
    const head = await engine.head();
    rewriteConsistently(path, engine.ledger.digestKey);
    const verification = await engine.verify();
    expect(faults(verification)).toBe("");
    expect(verification.cannotDetect.join()).toContain("Without COUNTERSIGN_SECRET");
    // Unless a head was kept elsewhere.
    expect(faults(await engine.verify({ head }))).toContain("rewritten");
  });

  test("is found with a secret that the writer does not have, nor guesses", async () => {
    const engine = await busyLedger({ secret: SECRET });
    await engine.head();
    const sound = await engine.verify({ head: await engine.head() });
    expect(faults(sound)).toBe("");
    expect(sound.cannotDetect).toEqual([
      expect.stringMatching(/^Removal of the newest records of a session, .*\(0 records here\)/),
      expect.stringMatching(/^Changes outside the journal/),
    ]);
    rewriteConsistently(path, engine.ledger.digestKey);
    expect(faults(await engine.verify())).toContain("its hash does not match");
    rewriteConsistently(path, engine.ledger.digestKey, "another secret");
    expect(faults(await engine.verify())).toContain("its hash does not match");
    // With the secret it is as good as new: that is what the secret protects.
    rewriteConsistently(path, engine.ledger.digestKey, SECRET);
    expect(faults(await engine.verify())).toBe("");
  });

  test("cannot be judged by a process with another secret, which is told so", async () => {
    await busyLedger({ secret: SECRET });
    const other = await openEngine({ secret: "not that one" });
    await expect(other.verify()).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringContaining("created with a different secret") as string,
    });
  });
});

describe("memory", () => {
  test("does not grow with the journal: no look asks for more than a page, and every page is used", async () => {
    const writer = await openEngine();
    const pay = writer.gate("pay", { requireConfirmation: true }, async () => 1);
    const outcome = await pay({}, { key: "k", by: ana });
    if (outcome.status !== "pending") throw new Error(outcome.status);
    // Every refusal of a stranger is a record in the one chain.
    for (let n = 0; n < 1_200; n++)
      await tryDeny(writer, outcome.confirmation.id, { by: { id: "eve", kind: "agent" } });
    const { engine, watched } = killableEngine(writer.ledger, clock);
    await engine.head();
    expect(await engine.verify()).toMatchObject({ ok: true, records: 1_201, checkpoints: 1 });
    const limitOf: Partial<Record<LedgerMethod, (args: readonly unknown[]) => number>> = {
      "journal.streams": ([, limit]) => limit as number,
      "journal.checkpoints": ([, limit]) => limit as number,
      "journal.rows": ([range]) => (range as { limit: number }).limit,
      "journal.sessionRows": ([, range]) => (range as { limit: number }).limit,
    };
    const pages = watched.calls.flatMap(({ method, args }) => limitOf[method]?.(args) ?? []);
    expect(Math.max(...pages)).toBe(PAGE);
    expect(watched.count("journal.sessionRows")).toBe(4);
    expect(watched.count("journal.rows")).toBe(8);
  });
});

describe("sealing", () => {
  test("covers what is new, and writes nothing when nothing is", async () => {
    const engine = await busyLedger();
    const first = await engine.head();
    expect(await engine.head()).toBe(first);
    const { length } = await engine.ledger.journal.rows({ after: 0, limit: PAGE });
    expect(await engine.ledger.journal.lastCheckpoint()).toMatchObject({ k: 3, count: length });
  });

  test("by two processes at once leaves one checkpoint, and both know it", async () => {
    const one = await busyLedger();
    const two = await openEngine();
    const heads = await Promise.all([one.head(), two.head()]);
    expect(heads[0]).toBe(heads[1]);
    expect(faults(await two.verify())).toBe("");
  });
});
