import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { command, ROOT } from "../../scripts/command.ts";

/** What the others share; they are not programs. */
const SHARED = new Set(["check.ts", "otlp-provider.ts", "served.ts", "shop.ts"]);
const PROGRAMS = globSync("examples/embedding/*.ts", { cwd: ROOT })
  .filter((file) => !SHARED.has(basename(file)))
  .toSorted();

test("there are examples of embedding", () => {
  expect(PROGRAMS.length).toBeGreaterThan(3);
});

test.each(PROGRAMS)("%s keeps its claim", (file) => {
  const { status, stderr } = command("node", [join(ROOT, file)], { cwd: tmpdir(), timeoutMs: 60_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
