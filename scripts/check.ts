// `npm run check`: everything that can be checked without running the program, at the same time. Prints a line for each
// check, and the output of those that fail. Types are checked by `lint`, which needs them anyway.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./command.ts";

/** The scripts of package.json that are the checks. */
const CHECKS = ["lint", "knip", "test:architecture", "schema:check", "api:check", "format:check"] as const;

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const began = performance.now();
const passed = await Promise.all(CHECKS.filter((name) => name in scripts).map(check));
process.exitCode = passed.every(Boolean) ? 0 : 1;

async function check(name: string): Promise<boolean> {
  const child = spawn("npm", ["run", "--silent", name], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => output.push(part));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  process.stdout.write(`${name}: ${code === 0 ? "ok" : "FAILED"}, after ${seconds} s\n`);
  return code === 0;
}
