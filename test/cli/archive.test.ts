import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { Engine, ManualClock } from "../../src/engine/index.ts";
import { createLedger } from "../../src/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const DAY_MS = 86_400_000;

async function withOldSessions(folder: Folder, ...ids: readonly string[]): Promise<void> {
  const clock = new ManualClock(Date.now() - 100 * DAY_MS);
  const engine = new Engine({ ledger: await createLedger(folder.ledger, { clock }), clock });
  for (const id of ids) await engine.createSession({ app: "bank", user: "ana", id }, { note: "a note" });
  await engine.close();
}

function archived(folder: Folder): readonly string[] {
  return readdirSync(join(folder.path, "archive"))
    .sort()
    .map((name) => join("archive", name));
}

test("the guide's commands archive and check; a second run writes nothing", async () => {
  const folder = makeFolder();
  await withOldSessions(folder, "s1", "s2");
  const guide = readFileSync(join(ROOT, "docs/guides/archives.md"), "utf8");
  const [archive, ...checks] = [...guide.matchAll(/^npx countersign (.*?) *#/gm)].map(
    ([, line = ""]) => line,
  );
  const run = (line: string) =>
    folder.run(line.split(" ").flatMap((word) => (word === "archive/*.gz" ? archived(folder) : [word])));
  expect(run(archive ?? "")).toMatchObject({ code: 0, stdout: "Wrote 1 file with 2 sessions.\n" });
  expect(run(archive ?? "")).toMatchObject({ code: 0, stdout: "Wrote 0 files with 0 sessions.\n" });
  expect(checks).toHaveLength(2);
  for (const line of checks) {
    const { code, stdout } = run(line);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain("The archives are intact");
    for (const printed of stdout.split("\n")) expect(printed.length).toBeLessThanOrEqual(80);
  }
});

test("what does not fit is named, with exit code 1; what cannot be asked for, with 2", async () => {
  const folder = makeFolder();
  await withOldSessions(folder, "s1");
  folder.run(["audit", "archive", "archive", "--older-than", "1d"]);
  const [file = ""] = archived(folder);
  const { code, stdout } = folder.run(["audit", "verify", file, file]);
  expect({ code, stdout }).toMatchObject({ code: 1 });
  expect(stdout).toMatch(/same\s+number/);
  expect(folder.json(["audit", "verify", file])).toMatchObject({ ok: true, files: 1, sessions: 1 });
  expect(folder.run(["audit", "verify", "nothing.gz"]).code).toBe(1);
  expect(folder.run(["audit", "verify", "--ledger"])).toMatchObject({ code: 2 });
  expect(folder.run(["audit", "archive", "archive"])).toMatchObject({ code: 2 });
});
