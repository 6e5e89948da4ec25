// `npm test`: checks what the machine must have, runs Vitest with the arguments given, and ends with its count.
// `npm run test:all` is the same with --all: the long proofs too.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureWebBuilt } from "./build-web.ts";
import { command, ROOT } from "./command.ts";
import {
  ensureAdkWeb,
  ensureChromium,
  ensureHeadlessShell,
  ensurePostgresTools,
  ensureProgram,
} from "./test-tools.ts";

/** What this script reads of Vitest's JSON report. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly unknown[];
  }[];
}

/** What is run: with the long proofs or without, and Vitest's own arguments, which select tests. */
interface Selection {
  readonly long: boolean;
  readonly args: readonly string[];
}

/** Programs that tests start, and why. */
const PROGRAMS = {
  strace: "which counts the fsyncs of each command",
  pgbouncer: "behind which the ledger is tested",
  python3: "in which an example of the remote gate is written",
  curl: "with which the remote gate is walked through",
  jq: "which reads its answers",
};

process.exitCode = await main(process.argv.slice(2));

async function main([first, ...rest]: readonly string[]): Promise<number> {
  const long = first === "--all";
  const args = long || first === undefined ? rest : [first, ...rest];
  // A selection of tests may do without; those that need something then fail by themselves, and are not skipped.
  const missing = args.length === 0 ? await missingTools() : [];
  if (missing.length > 0) {
    process.stderr.write(`npm test cannot begin.\n${missing.join("\n")}\n`);
    return 1;
  }
  // Once for all files, that would otherwise do it beside each other.
  ensureWebBuilt();
  const folder = mkdtempSync(join(tmpdir(), "countersign-test-"));
  try {
    return runVitest({ long, args }, join(folder, "report.json"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is not there and could not be got, a sentence each. */
async function missingTools(): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [program, why] of Object.entries(PROGRAMS)) {
    if (ensureProgram(program)) continue;
    missing.push(
      `It needs ${program}, ${why}: install it (Debian: apt-get install ${program}) and try again.`,
    );
  }
  for (const ensure of [
    ensureChromium,
    ensureHeadlessShell,
    ensureAdkWeb,
    async () => ensurePostgresTools(),
  ]) {
    await ensure().catch((error: unknown) => {
      missing.push(error instanceof Error ? error.message : String(error));
    });
  }
  return missing;
}

function runVitest({ long, args }: Selection, file: string): number {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const env = long ? { COUNTERSIGN_LONG: "1" } : {};
  const { status, stderr } = command("vitest", ["run", ...reporters, ...args], { show: true, env });
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
  // Whoever selects tests skips the others.
  const missed = args.length === 0 ? missedIn(report, long) : [];
  for (const line of missed) process.stdout.write(`${line}\n`);
  process.stdout.write(
    `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
  );
  return status === 0 && (failed > 0 || missed.length > 0) ? 1 : status;
}

/** What a whole run should have run and has not, a sentence each. */
function missedIn({ testResults, numPendingTests, numTodoTests }: Report, long: boolean): readonly string[] {
  const ran = new Set(testResults.map(({ name }) => relative(ROOT, name)));
  const files = globSync("{src,test,web/src}/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] });
  const missed = files.filter((file) => !ran.has(file) && (long || !file.endsWith(".long.test.ts")));
  const skipped = numPendingTests + numTodoTests;
  return [
    ...missed.map((file) => `${file} was not run: no project of vitest.config.ts has it.`),
    ...(skipped > 0 ? ["Tests were skipped. Run them, or delete them."] : []),
  ];
}
