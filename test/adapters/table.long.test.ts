import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { ALONE } from "./alone/index.ts";
import { TRIALS, type Trial } from "./alone/measure.ts";
import { GATED, type Row, type Runs, readTable, tableOf, writeTable } from "./alone/table.ts";
import { Scene } from "./contract/scene.ts";
import type { AdapterSubject } from "./contract/subject.ts";
import { SUBJECTS } from "./subjects/index.ts";

const resources = useResources();
/** Every trial of every framework starts processes. */
const TIMEOUT = 600_000;

/** `npm run adapters:table` writes what it finds. */
const WRITES = process.env["COUNTERSIGN_TABLE"] === "write";

test("the table of docs/adapters.md is what happens", { timeout: TIMEOUT }, async () => {
  const rows: Row[] = [];
  for (const { of, ...alone } of ALONE) {
    const subject = SUBJECTS.find(({ name }) => name === of);
    if (subject === undefined) throw new Error(`There is no subject ${of}.`);
    rows.push({ name: of, alone: await runsOf(alone), gated: await runsOf(subject) });
  }
  for (const { gated } of rows) expect(gated).toEqual(GATED);
  if (WRITES) writeTable(rows);
  expect(readTable()).toBe(tableOf(rows));
});

async function runsOf(subject: AdapterSubject): Promise<Runs> {
  const runs: Partial<Record<Trial, number>> = {};
  for (const [trial, run] of Object.entries(TRIALS)) {
    const folder = await resources.folder();
    const url = `sqlite:${join(folder, "ledger.db")}`;
    runs[trial as Trial] = await run(new Scene(resources, { subject, url, folder }));
    await resources.release();
  }
  return runs as Runs;
}
