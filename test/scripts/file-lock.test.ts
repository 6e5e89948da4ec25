import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { whileLocked } from "../../scripts/file-lock.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const LOCK = pathToFileURL(join(ROOT, "scripts", "file-lock.ts")).href;

/** A process that says when it has the lock, and holds it until it is told to go on. */
function holder(file: string, log: string) {
  const source = `
    import { appendFileSync, readSync, writeSync } from "node:fs";
    import { whileLocked } from ${JSON.stringify(LOCK)};
    whileLocked(${JSON.stringify(file)}, 60_000, () => {
      appendFileSync(${JSON.stringify(log)}, "in ");
      writeSync(1, "held");
      readSync(0, Buffer.alloc(1));
      appendFileSync(${JSON.stringify(log)}, "out ");
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  resources.add(() => child.kill("SIGKILL"));
  return child;
}

test("of two processes one waits until the other is done", async () => {
  const folder = await resources.folder();
  const [file, log] = [join(folder, "lock"), join(folder, "log")];
  const both = [holder(file, log), holder(file, log)];
  const ends = both.map((child) => once(child, "exit"));
  for (const child of both) child.stdin.end("x");
  await Promise.all(ends);
  expect(readFileSync(log, "utf8")).toBe("in out in out ");
});

test("a process that is killed holds nothing", async () => {
  const folder = await resources.folder();
  const [file, log] = [join(folder, "lock"), join(folder, "log")];
  const child = holder(file, log);
  await once(child.stdout, "data");
  expect(() => whileLocked(file, 0, () => {})).toThrow("locked");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(whileLocked(file, 0, () => "mine")).toBe("mine");
});
