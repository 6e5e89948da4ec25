import { expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import { Engine, partsOf, placeHold, toPrincipal } from "../../engine/index.ts";
import { watch } from "../../engine/testing/execution.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();
const counsel = { by: toPrincipal({ id: "counsel" }), via: "cli" };
const ana = { id: "ana" };
const SESSIONS = 50;
const names = Array.from({ length: SESSIONS }, (_, i) => ({ app: "bank", user: "ana", id: `s${i}` }));

/** Two ledgers of one database, as two processes have them, and sessions to delete. */
async function setUp() {
  const url = await createDatabase(resources);
  const watched = watch(await openPostgresLedger({ url, migrate: true }));
  const erasing = new Engine({ ledger: watched.ledger });
  const holding = new Engine({ ledger: await openPostgresLedger({ url }) });
  for (const engine of [erasing, holding]) resources.add(() => engine.close());
  await Promise.all(names.map((name) => erasing.createSession(name)));
  return { erasing, holding, watched };
}

test("deletions at once need one commit each", async () => {
  const { erasing, watched } = await setUp();
  const before = watched.count("commit");
  const deleted = await Promise.all(names.map((name) => erasing.deleteSession(name, ana)));
  expect(deleted).toEqual(names.map(() => ({ ok: true })));
  expect(watched.count("commit") - before).toBe(SESSIONS);
});

test("of deletions and a hold at once, each deletion is before the hold in the log, or refused", async () => {
  const { erasing, holding, watched } = await setUp();
  // The hold is placed when some deletions are on their way and others have yet to be judged.
  const [begun, placed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let commits = 0;
  watched.intercept("commit", async (pass) => {
    commits += 1;
    if (commits === SESSIONS / 2) begun.resolve();
    if (commits > (SESSIONS * 3) / 4) await placed.promise;
    return pass();
  });
  const hold = begun.promise
    .then(() => placeHold(partsOf(holding), { on: "app", name: "bank", reason: "case 1" }, counsel))
    .finally(() => placed.resolve());
  const deleted = await Promise.all(names.map((name) => erasing.deleteSession(name, ana)));
  await hold;
  watched.lift("commit");
  const rows = await holding.ledger.journal.rows({ after: 0, limit: 1_000 });
  const kinds = rows.flatMap(({ kinds: told }) => told);
  const heldAt = kinds.indexOf("hold-placed");
  expect(heldAt).toBeGreaterThanOrEqual(0);
  expect(kinds.slice(heldAt)).not.toContain("session-deleted");
  const done = deleted.filter(({ ok }) => ok).length;
  expect(kinds.filter((kind) => kind === "session-deleted")).toHaveLength(done);
  const refused = deleted.filter(({ ok }) => !ok);
  expect(refused.length).toBeGreaterThan(0);
  for (const each of refused) expect(each).toMatchObject({ code: "under-hold" });
  expect(await holding.verify()).toMatchObject({ ok: true });
});
