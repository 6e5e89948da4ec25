// `npm test`: checks what the machine must have, runs Vitest with the arguments given, and ends with its count.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { command } from "./command.ts";

/** What this script reads of Vitest's JSON report. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  // A selection of tests may do without; the test that counts fsyncs then fails by itself, and is not skipped.
  if (args.length === 0 && !hasStrace()) {
    process.stderr.write(
      "npm test needs strace, which counts the fsyncs of each command: install it (Debian: apt-get install strace) and try again.\n",
    );
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "countersign-test-"));
  try {
    return runVitest(args, join(folder, "report.json"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(args: readonly string[], file: string): number {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const { status, stderr } = command("vitest", ["run", ...reporters, ...args], { show: true });
  process.stderr.write(stderr);
  if (!existsSync(file)) {
    process.stderr.write("Vitest ended without a report.\n");
    return status === 0 ? 1 : status;
  }
  const report = JSON.parse(readFileSync(file, "utf8")) as Report;
  // A file that cannot be loaded fails without a single test of its own.
  const unloaded = report.testResults.filter(
    (result) => result.status === "failed" && result.assertionResults.length === 0,
  ).length;
  const failed = report.numFailedTests + unloaded;
  const skipped = report.numPendingTests + report.numTodoTests;
  if (status !== 0 && failed === 0) {
    process.stdout.write(`Vitest ended with code ${status} although no test failed; its output says why.\n`);
  }
  process.stdout.write(
    `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
  );
  return status === 0 && failed > 0 ? 1 : status;
}

/** Is strace there? Where it is missing and can be installed without asking anybody, it is. */
function hasStrace(): boolean {
  if (isOnPath("strace")) {
    return true;
  }
  if (process.getuid?.() !== 0 || !isOnPath("apt-get")) {
    return false;
  }
  process.stdout.write("strace is missing; installing it with apt-get.\n");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  command("apt-get", ["-qq", "update"], { show: true, env });
  command("apt-get", ["-qq", "install", "-y", "--no-install-recommends", "strace"], { show: true, env });
  return isOnPath("strace");
}

function isOnPath(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}
