import { expect, test } from "vitest";
import { runCommand } from "./command-run.ts";

// Node tells of some of these by an event, and throws others: in both cases it is known that nothing ran.
test.each([
  ["no name", [""], process.cwd(), 126],
  ["more words than the system takes", ["true", ...Array<string>(3_000).fill("x".repeat(2_000))], "/", 126],
  ["a folder that is a file", ["true"], process.execPath, 126],
  ["a folder that is gone", ["true"], "/no/such/folder", 127],
  ["a name that nobody knows", ["no-such-command"], "/", 127],
])("a command with %s was not started, and that is how it ended", async (_with, argv, cwd, exitCode) => {
  expect(await runCommand({ argv, cwd })).toEqual({
    exitCode,
    failure: expect.stringContaining("could not be started") as string,
    output: "",
  });
});
