import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measureCost } from "./cost.ts";
import { measureCycle } from "./cycle.ts";
import { reportGrowth } from "./growth-report.ts";
import { measureFull } from "./load/full.ts";
import { measureLoad } from "./load/measure.ts";
import { measureViewers } from "./load/viewers.ts";
import { measureNotices } from "./notices.ts";
import { HELP, type Options, parseOptions } from "./options.ts";
import { measurePolicy } from "./policy.ts";
import { measurePostgres } from "./postgres.ts";
import { describeLoad, describeMachine, Report } from "./report.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

async function measure(options: Options, folder: string): Promise<Report> {
  const report = new Report((line) => process.stderr.write(`${line}\n`));
  if (options.workloads.includes("cycle")) await measureCycle(options, folder, report);
  if (options.workloads.includes("cost")) await measureCost(folder, report);
  if (options.workloads.includes("policy")) await measurePolicy(options, folder, report);
  if (options.workloads.includes("growth")) await reportGrowth(options, folder, report);
  if (options.workloads.includes("postgres")) await measurePostgres(options, folder, report);
  if (options.workloads.includes("load")) await measureLoad(options, folder, report);
  if (options.workloads.includes("full")) await measureFull(options, folder, report);
  if (options.workloads.includes("viewers")) await measureViewers(options, folder, report);
  if (options.workloads.includes("notices")) await measureNotices(options, folder, report);
  return report;
}

function conditions({ rounds, batchMs, quick }: Options, loadBefore: string): string {
  const how = `${rounds} interleaved rounds of ${batchMs} ms. Read the ratios: absolutes are of this machine and hour.`;
  const warning = quick
    ? "\n\n**A quick run: it shows that the benchmark works, not how fast anything is.**"
    : "";
  const load = `Load average ${loadBefore} when it began (before any work of its own), ${describeLoad()} at its end.`;
  return `${describeMachine()} ${how} ${load}${warning}`;
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const loadBefore = describeLoad();
  const results = join(HERE, "results");
  mkdirSync(results, { recursive: true });
  // Beside the results and not in the system's temporary folder, which may be in memory, where a sync is free.
  const folder = mkdtempSync(join(results, "data-"));
  // PostgreSQL runs as a user of its own where this is root's.
  chmodSync(folder, 0o755);
  try {
    const report = await measure(options, folder);
    const text = report.toMarkdown(conditions(options, loadBefore));
    process.stdout.write(text);
    writeFileSync(join(results, `${new Date().toISOString().replaceAll(":", "-")}.md`), text);
    if (options.keep !== undefined) writeFileSync(join(HERE, options.keep), text);
    if (!report.met) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
