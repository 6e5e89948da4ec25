import { ChildProcess } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { runCommand } from "./command-run.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

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

// As with `sudo`: a process that belongs to another user gets no signals from this one.
test("a command that may not be sent a signal goes on, and ends as it ends", async () => {
  const refused = vi.spyOn(ChildProcess.prototype, "kill").mockImplementation(function (this: ChildProcess) {
    this.emit("error", Object.assign(new Error("kill EPERM"), { code: "EPERM" }));
    return false;
  });
  const script = "console.log('begun'); setTimeout(() => console.log('ended'), 300)";
  const outcome = runCommand({ argv: [process.execPath, "-e", script], cwd: "/" });
  process.emit("SIGUSR2");
  expect(await outcome).toEqual({ exitCode: 0, output: "begun\nended\n" });
  expect(refused).toHaveBeenCalled();
});
