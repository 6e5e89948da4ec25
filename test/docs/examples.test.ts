import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { runExample } from "./run-example.ts";

const EXAMPLES = globSync("examples/{*,adapters/*}.ts", { cwd: ROOT }).toSorted();

test("there are examples", () => {
  expect(EXAMPLES.length).toBeGreaterThan(3);
});

test.each(EXAMPLES)("%s keeps its claim, also when it is run again", (file) => {
  const cwd = mkdtempSync(join(tmpdir(), "countersign-example-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (let run = 1; run <= 2; run++) {
    const { status, stderr } = runExample(file, cwd);
    expect({ status, stderr }, `run ${run}`).toEqual({ status: 0, stderr: "" });
  }
});
