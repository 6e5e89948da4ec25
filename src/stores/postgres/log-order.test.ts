import { expect, test } from "vitest";
import { connect, createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { SessionWriter } from "../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "./open.ts";

const WRITERS = 16;
const COMMITS = 40;
const resources = useResources();

async function openTwo(): Promise<{ url: string; handles: readonly [Ledger, Ledger] }> {
  const url = await createDatabase(resources);
  const handles = [
    await openPostgresLedger({ url: `${url}?pool=${WRITERS}` }),
    await openPostgresLedger({ url }),
  ] as const;
  resources.add(() => Promise.all(handles.map((ledger) => ledger.close())));
  return { url, handles };
}

test("whoever reads the journal on from where they were misses nothing of many writers", async () => {
  const { handles } = await openTwo();
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, i) => {
      const writer = new SessionWriter(handles[i % 2] as Ledger, `s${i}`);
      for (let n = 0; n < COMMITS; n++)
        await writer.commit([writer.journal("a"), writer.journal("b")], { sync: n % 3 === 0 });
    }),
  );
  let done = false;
  const stop = writing.then(() => {
    done = true;
  });
  const seen: { readonly seq: number; readonly stream: string; readonly n: number }[] = [];
  for (let last = false; ; last = done) {
    const page = await handles[1].journal({ after: seen.at(-1)?.seq ?? 0, limit: 100 });
    seen.push(...page);
    if (last && page.length === 0) break;
  }
  await stop;
  expect(seen).toHaveLength(WRITERS * COMMITS * 2);
  const streams = Map.groupBy(seen, ({ stream }) => stream);
  for (const records of streams.values())
    expect(records.map(({ n }) => n)).toEqual(records.map((_, index) => index + 1));
});

test("a record that is on its way holds back those behind it, and nothing that is before it", async () => {
  const { url, handles } = await openTwo();
  const [ledger] = handles;
  const early = new SessionWriter(ledger, "early");
  await early.commit([early.journal("before")]);
  const slow = await connect(resources, url);
  const record = '[{"stream":"slow","n":1,"at":1,"kind":"slow","body_digest":"","hash":"","body":null}]';
  await slow.query("begin");
  await slow.query("select countersign.add_records(1, $1)", [record]);
  const fast = new SessionWriter(ledger, "fast");
  await fast.commit([fast.journal("behind")]);
  const kinds = async (): Promise<string[]> =>
    (await ledger.journal({ after: 0, limit: 9 })).map(({ kind }) => kind);
  expect(await kinds()).toEqual(["before"]);
  await slow.query("commit");
  expect(await kinds()).toEqual(["before", "slow", "behind"]);
});

test("what was rolled back leaves a gap in the positions, and holds back nothing", async () => {
  const { url, handles } = await openTwo();
  const [ledger] = handles;
  const writer = new SessionWriter(ledger, "s1");
  const failing = await connect(resources, url);
  await failing.query("begin");
  await failing.query('select countersign.add_records(1, \'[{"stream":"x","n":1}]\')').catch(() => {});
  await failing.query("rollback");
  await writer.commit([writer.journal("noted")]);
  expect(await ledger.journal({ after: 0, limit: 9 })).toMatchObject([{ kind: "noted" }]);
  expect(await ledger.channelPlace("late")).toBe((await ledger.journal({ after: 0, limit: 9 }))[0]?.seq);
});
