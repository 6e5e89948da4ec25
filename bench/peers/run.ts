// Runs the peer benchmark with this package among the contenders, and makes docs/benchmarks.md of what it found.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { toPage } from "./page.ts";
import type { PeerResults } from "./results.ts";

const HELP = `Usage: npm run bench:peers -- --harness FOLDER [options] [-- options of its run.mjs]

Builds nothing: run \`npm run build\` first. Then, on a quiet machine:

  --harness FOLDER   the peer benchmark, installed: its run.mjs, contenders/ and lib/
  --node PATH        the Node that it was installed with (default: node). This package runs on the one that runs this:
                     the harness's lib/proc.mjs must start the contender "ours" with execPath process.env.OURS_NODE
  --report FILE      run nothing; make the page of an earlier run's JSON. Given several times: a later one's workloads
                     stand instead of an earlier one's
  --help

Without options for run.mjs everything is run: about half an hour. A subset makes a page with that subset.
`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = join(ROOT, "docs", "benchmarks.md");
const OUT = join(ROOT, "bench", "results", "peers");
const IN_FLIGHT = join(ROOT, "bench", "peers", "in-flight.mjs");

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      harness: { type: "string" },
      node: { type: "string", default: "node" },
      report: { type: "string", multiple: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const files = values.report ?? [measure(values.harness, values.node, positionals)];
  const [first, ...later] = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as PeerResults);
  if (first === undefined) throw new Error("There is no report to make a page of.");
  const merged = later.reduce((before, after) => ({ ...before, ...after }), first);
  const results: PeerResults = { ...merged, env: first.env };
  writeFileSync(PAGE, toPage(results, readFileSync(join(ROOT, "bench", "RESULTS.md"), "utf8")));
  process.stderr.write(`docs/benchmarks.md was made of ${files.join(" and ")}\n`);
}

/** The file with what was found. */
function measure(harness: string | undefined, node: string, options: readonly string[]): string {
  if (harness === undefined) throw new Error("--harness says where the peer benchmark is; see --help.");
  const dist = join(ROOT, "dist");
  if (!existsSync(join(dist, "index.js"))) throw new Error("There is no dist/: run `npm run build` first.");
  const contender = JSON.stringify(join(ROOT, "bench", "peers", "ours.mjs"));
  writeFileSync(join(harness, "contenders", "ours.mjs"), `export * from ${contender};\n`);
  mkdirSync(OUT, { recursive: true });
  const env = {
    ...process.env,
    PEERS_LIB: join(harness, "lib"),
    COUNTERSIGN_DIST: dist,
    OURS_NODE: process.execPath,
  };
  const args = ["run.mjs", "--base", "ours", "--out", relative(harness, OUT), ...options];
  const { status } = spawnSync(node, args, { cwd: harness, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`The peer benchmark ended with ${status}.`);
  const newest = globSync(join(OUT, "*.json")).toSorted().at(-1);
  if (newest === undefined) throw new Error(`The peer benchmark left nothing in ${OUT}.`);
  const { W3 } = JSON.parse(readFileSync(newest, "utf8")) as PeerResults;
  if (W3 !== undefined) spawnSync(node, [IN_FLIGHT, newest], { cwd: harness, env, stdio: "inherit" });
  return newest;
}

try {
  main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
