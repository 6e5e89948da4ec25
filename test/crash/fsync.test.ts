import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { type FsyncOptions, MARK, type Marked, TIMES } from "./fsync.ts";

const PROGRAM = new URL("./fsync.program.ts", import.meta.url);
const resources = useResources();

// A killed process cannot show a missing sync: the kernel keeps what it was given. Only the system calls can.
beforeAll(() => {
  const isThere = (process.env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => existsSync(join(folder, "strace")));
  if (!isThere) throw new Error("strace counts the syncs and is not on the PATH: apt-get install strace");
});

/** Syncs per command: SQLite's, of the WAL. Checkpoints would add theirs, but no WAL here grows that far. */
async function syncsPerCommand(
  options: Pick<FsyncOptions, "durability">,
): Promise<{ readonly [name: string]: number }> {
  const folder = await resources.folder();
  const trace = join(folder, "trace");
  const calls = "trace=fsync,fdatasync,?access,?faccessat,?faccessat2";
  const child = resources.child(PROGRAM, {
    under: ["strace", "-f", "-qq", "-o", trace, "-e", calls],
    args: [JSON.stringify({ folder, ...options } satisfies FsyncOptions)],
  });
  const { code } = await child.ended;
  if (code !== 0) throw new Error(`The traced program ended with ${code}: ${child.complaints}`);
  return countByMark(readFileSync(trace, "utf8").split("\n"));
}

function countByMark(lines: readonly string[]): { readonly [name: string]: number } {
  const counts = new Map<string, number>();
  let current: string | undefined;
  for (const line of lines) {
    const [, name, edge] = new RegExp(`"${MARK}(.+)/(begin|end)"`).exec(line) ?? [];
    if (name !== undefined) {
      current = edge === "begin" ? name : undefined;
      counts.set(name, counts.get(name) ?? 0);
    } else if (current !== undefined && /\bf(data)?sync\(/.test(line)) {
      counts.set(current, (counts.get(current) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].map(([name, count]) => [name, count / TIMES]));
}

test("what is acted upon is synced once before, everything else not at all", async () => {
  const expected: { readonly [name in Marked]: number } = {
    message: 0,
    "model turn": 0,
    "ungated claim": 1,
    "repeatable claim": 0,
    "step of the model ends": 0,
    "decide and claim": 1,
    "decide elsewhere": 1,
    "claim alone": 1,
    result: 0,
    deny: 1,
    "step start": 1,
    "step end": 0,
  };
  expect(await syncsPerCommand({})).toEqual(expected);
});

test("with full durability every commit is synced", async () => {
  const counts = await syncsPerCommand({ durability: "full" });
  expect(Object.keys(counts)).toHaveLength(12);
  expect(Object.entries(counts).filter(([, syncs]) => syncs < 1)).toEqual([]);
});
