import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLedger } from "../../../src/stores/index.ts";
import { useResources } from "../../support/resources.ts";
import type { ExporterLine, ExporterOptions } from "./siem.program.ts";

const PROGRAM = new URL("./siem.program.ts", import.meta.url);
const resources = useResources();
/** Longer than a process that was killed holds the place. */
const LATER_MS = 60_000;

function start(options: ExporterOptions): ReturnType<typeof resources.child<ExporterLine>> {
  return resources.child<ExporterLine>(PROGRAM, { args: [JSON.stringify(options)] });
}

async function linesIn(file: string): Promise<readonly { readonly id: string; readonly seq: number }[]> {
  const text = await readFile(file, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly id: string; readonly seq: number });
}

test.each([
  { dieAt: { write: 1, when: "after" }, twice: 0 },
  { dieAt: { write: 2, when: "before" }, twice: 3 },
  { dieAt: { write: 2, when: "after" }, twice: 0 },
] as const)("killed $dieAt.when write $dieAt.write of its place, the export has no gap", async (kill) => {
  const folder = await resources.folder();
  const [ledger, file] = [join(folder, "ledger.db"), join(folder, "journal.jsonl")];
  const killed = start({ ledger, file, keys: ["a", "b", "c"], dieAt: kill.dieAt });
  expect((await killed.ended).signal).toBe("SIGKILL");
  const next = start({ ledger, file, keys: ["d"], aheadMs: LATER_MS });
  await next.line("delivered");
  await next.kill();
  const opened = await createLedger(`sqlite:${ledger}`);
  resources.add(() => opened.close());
  const journal = await opened.journal.records({ after: 0, limit: 100 });
  const lines = await linesIn(file);
  const ids = new Map(lines.map(({ seq, id }) => [seq, id]));
  expect([...ids.keys()]).toEqual(journal.map(({ seq }) => seq));
  expect(lines.length - ids.size).toBe(kill.twice);
  // What was written twice has one id.
  expect(new Set(lines.map(({ id }) => id)).size).toBe(ids.size);
});
