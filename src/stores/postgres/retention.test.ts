import { expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  Engine,
  partsOf,
  placeHold,
  type RetentionRules,
  runRetention,
  toPrincipal,
} from "../../engine/index.ts";
import { watch } from "../../engine/testing/execution.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();
const decider = { by: toPrincipal({ id: "ops" }), via: "cli" };
const NAME = { app: "bank", user: "ana", id: "s1" };
/** Everything is past its age. */
const RULES: RetentionRules = { version: "v1", shortestContentMs: -60_000, contentMs: () => -60_000 };

async function openTwo(): Promise<readonly [Engine, Engine, ReturnType<typeof watch>]> {
  const url = await createDatabase(resources);
  const watched = watch(await openPostgresLedger({ url, migrate: true }));
  const [one, other] = [watched.ledger, await openPostgresLedger({ url })];
  const engines = [new Engine({ ledger: one }), new Engine({ ledger: other })] as const;
  for (const engine of engines) resources.add(() => engine.close());
  return [...engines, watched];
}

test("a hold that was placed while an erasure was on its way refuses it", async () => {
  const [erasing, other, watched] = await openTwo();
  await other.createSession(NAME, { note: "a note" });
  watched.intercept("commit", async (pass) => {
    watched.lift("commit");
    await placeHold(partsOf(other), { on: "user", name: "ana", reason: "case 7" }, decider);
    return pass();
  });
  const run = await runRetention(partsOf(erasing), { rules: RULES, decider });
  expect(run).toEqual({ erased: 0, held: 1, ended: "done" });
  expect(await erasing.deleteSession(NAME, { id: "ana" })).toMatchObject({ ok: false, code: "under-hold" });
  expect(await erasing.verify()).toMatchObject({ ok: true });
});

test("two processes that run at once erase every session once", async () => {
  const [one, other] = await openTwo();
  for (let n = 0; n < 5; n += 1) await one.createSession({ ...NAME, id: `s${n}` });
  const runs = await Promise.all(
    [one, other].map((engine) =>
      runRetention(partsOf(engine), { rules: RULES, decider, batch: 2, pauseMs: 0 }),
    ),
  );
  expect(runs.reduce((sum, { erased }) => sum + erased, 0)).toBe(5);
  expect(runs.map(({ ended }) => ended)).toContain("done");
  const records = await one.ledger.journal.records({ after: 0, limit: 100 });
  expect(records.filter(({ kind }) => kind === "session-pruned")).toHaveLength(5);
  expect(await one.verify()).toMatchObject({ ok: true });
});

test("the journal of erased sessions is pruned by one of two processes; what is left verifies on both", async () => {
  const [one, other] = await openTwo();
  for (let n = 0; n < 7; n += 1) await one.createSession({ ...NAME, id: `s${n}` }, { note: "a note" });
  const rules: RetentionRules = { ...RULES, journal: { shortestMs: -60_000, keepMs: () => -60_000 } };
  const run = (engine: Engine) => runRetention(partsOf(engine), { rules, decider, batch: 2, pauseMs: 0 });
  await run(one);
  await one.createSession({ ...NAME, id: "later" });
  await one.head();
  await Promise.all([run(one), run(other)]);
  for (const engine of [one, other]) {
    const checked = await engine.verify();
    expect(checked).toMatchObject({ ok: true, pruned: { sessions: 7, commits: 14, by: "ops" } });
    expect(await engine.createSession({ ...NAME, id: "s3" })).toMatchObject({ code: "session-deleted" });
  }
  const left = await other.ledger.journal.rows({ after: 0, limit: 500 });
  expect(new Set(left.map(({ session }) => session)).size).toBe(2);
});
