import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import type { Line } from "./child.ts";

const STANDARD_OUTPUT = 1;

/** Says one line to the test. Has left this process when it returns, whatever happens to the process next. */
export function say(line: Line): void {
  writeSync(STANDARD_OUTPUT, `${JSON.stringify(line)}\n`);
}

/** Calls `handle` with every line that the test sends. The program ends when the test does. */
export function listen(handle: (message: unknown) => void): void {
  // Most programs are killed; what they compiled would be lost to the next.
  flushCompileCache();
  const input = createInterface({ input: process.stdin });
  input.on("line", (text) => handle(JSON.parse(text) as unknown));
  input.on("close", () => process.kill(process.pid, "SIGTERM"));
}

/** The program's first argument, as JSON. */
export function programOptions(): unknown {
  const text = process.argv[2];
  if (text === undefined) throw new Error("Give the options as JSON.");
  return JSON.parse(text) as unknown;
}
