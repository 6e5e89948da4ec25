import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { runExample } from "./run-example.ts";

/** What the others share; they are not programs. */
const SHARED = new Set(["check.ts", "otlp-provider.ts", "served.ts", "shop.ts"]);
const PROGRAMS = globSync("examples/embedding/*.ts", { cwd: ROOT })
  .filter((file) => !SHARED.has(basename(file)))
  .toSorted();

test("there are examples of embedding", () => {
  expect(PROGRAMS.length).toBeGreaterThan(3);
});

test.each(PROGRAMS)("%s keeps its claim", (file) => {
  const { status, stderr } = runExample(file, tmpdir());
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
