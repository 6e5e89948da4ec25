import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { ALONE } from "./alone/index.ts";
import { TRIALS, type Trial } from "./alone/measure.ts";
import {
  GATED,
  linesOf,
  type Row,
  type Runs,
  readSection,
  summaryOf,
  tableOf,
  writeSection,
} from "./alone/table.ts";
import { contractTable } from "./contract/rows.ts";
import { Scene } from "./contract/scene.ts";
import type { AdapterSubject } from "./contract/subject.ts";
import { SUBJECTS } from "./subjects/index.ts";
import { PEERS, peerSubject } from "./subjects/peers.ts";

const resources = useResources();
const PEER_PROGRAM = new URL("peer-program.ts", import.meta.url);
/** Every trial starts processes, which are not bundled for frameworks with heavy trees. */
const TIMEOUT = 600_000;

/** `npm run adapters:table` writes what it finds. */
const WRITES = process.env["COUNTERSIGN_TABLE"] === "write";

interface Compared {
  readonly name: string;
  readonly alone: AdapterSubject;
  readonly gated: AdapterSubject;
  readonly program?: URL;
}

const rows: Row[] = [];
const all = [...own(), ...(await peers())];

describe("docs/adapters.md", { timeout: TIMEOUT }, () => {
  test.each(all)("has what happens with $name", async (compared) => {
    const { name, alone, gated, ...at } = compared;
    const row = { name, alone: await runsOf(alone, at), gated: await runsOf(gated, at) };
    rows.push(row);
    expect(row.gated).toEqual(GATED);
    if (!WRITES) expect(readSection("table")).toContain(linesOf(row));
  });

  test("has nothing else", () => {
    if (WRITES) {
      writeSection("table", tableOf(rows));
      writeSection("contract", contractTable([...SUBJECTS, ...PEERS]));
      writeSection("adapters", summaryOf(rows));
    }
    expect(readSection("table")).toBe(tableOf(rows));
  });
});

function own(): readonly Compared[] {
  return ALONE.map(({ of, ...alone }) => {
    const gated = SUBJECTS.find(({ name }) => name === of);
    if (gated === undefined) throw new Error(`There is no subject ${of}.`);
    return { name: of.replace(" with ids", ""), alone, gated };
  });
}

async function peers(): Promise<readonly Compared[]> {
  return Promise.all(
    PEERS.map(async ({ name }) => {
      const [alone, gated] = await Promise.all([peerSubject(`${name} alone`), peerSubject(name)]);
      return { name, alone, gated, program: PEER_PROGRAM };
    }),
  );
}

async function runsOf(subject: AdapterSubject, at: Pick<Compared, "program">): Promise<Runs> {
  const runs: Partial<Record<Trial, number>> = {};
  for (const [trial, run] of Object.entries(TRIALS)) {
    const folder = await resources.folder();
    const url = `sqlite:${join(folder, "ledger.db")}`;
    runs[trial as Trial] = await run(new Scene(resources, { subject, url, folder, ...at }));
    await resources.release();
  }
  return runs as Runs;
}
