// Runs the peer benchmark and makes docs/benchmarks.md of what it found.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { toPage } from "./page.ts";
import type { PeerResults } from "./results.ts";

const HELP = `Usage: npm run bench:peers -- [options]

Compares with other frameworks, all in one run. First \`npm run build\` and \`npm run bench:peers:install\`. The machine
should be quiet; everything takes about 45 minutes.

  --only NAMES       contenders, separated by commas (default: every file in bench/peers/contenders)
  --workload NAMES   memory, sqlite, postgres, growth, safety, ungated, paused (default: all)
  --rounds N         interleaved rounds (default: 15)
  --quick            a functional check: 3 short rounds. Its numbers mean nothing
  --old-node PATH    the Node that native modules were installed with (default: the machine's own node). Contenders that
                     need one run there, and their row says so; all others run on the Node that runs this
  --report FILE      measure nothing; make the page of an earlier run's JSON. Given several times: a later one's
                     workloads replace an earlier one's
  --help
`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = join(ROOT, "bench", "peers");
const PAGE = join(ROOT, "docs", "benchmarks.md");
const OUT = join(ROOT, "bench", "results", "peers");
const USUAL = { rounds: 15, targetMs: 500, warmMs: 3_000 };
const QUICK = { rounds: 3, targetMs: 200, warmMs: 300 };
const GIB = 2 ** 30;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      workload: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      "old-node": { type: "string" },
      report: { type: "string", multiple: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const files = values.report ?? [await measure(values)];
  const [first, ...later] = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as PeerResults);
  if (first === undefined) throw new Error("There is no report to make a page of.");
  const merged = later.reduce((before, after) => ({ ...before, ...after }), first);
  if (values.quick) return;
  const results: PeerResults = { ...merged, env: first.env };
  const [own, adapters, notes] = [kept("RESULTS.md"), kept("ADAPTERS.md"), kept("NOTES.md")];
  writeFileSync(PAGE, toPage(results, { own, adapters, notes }));
  process.stderr.write(`docs/benchmarks.md was made of ${files.join(" and ")}\n`);
}

/** What another benchmark has found. */
function kept(file: string): string {
  return readFileSync(join(ROOT, "bench", file), "utf8");
}

interface Asked {
  readonly only?: string | undefined;
  readonly workload?: string | undefined;
  readonly rounds?: string | undefined;
  readonly quick: boolean;
  readonly "old-node"?: string | undefined;
}

/** The file with what was found. */
async function measure(asked: Asked): Promise<string> {
  if (!existsSync(join(ROOT, "dist", "index.js"))) throw new Error("Run `npm run build` first.");
  if (!existsSync(join(HERE, "node_modules"))) throw new Error("Run `npm run bench:peers:install` first.");
  const { Bench } = (await import(join(HERE, "lib", "bench.mjs"))) as BenchModule;
  const { WORKLOADS } = (await import(join(HERE, "workloads", "index.mjs"))) as WorkloadModule;
  const chosen = asked.workload?.split(",") ?? Object.keys(WORKLOADS);
  const unknown = chosen.filter((name) => !(name in WORKLOADS));
  if (unknown.length > 0) throw new Error(`There is no workload named ${unknown.join(", ")}.`);
  const oldNode = asked["old-node"] ?? machineNode();
  const bench = await Bench.open({ ...termsOf(asked), oldNode });
  const env = environment(bench, oldNode);
  const results: { [workload: string]: unknown } = { env };
  try {
    for (const name of chosen) {
      bench.log(name);
      Object.assign(results, await WORKLOADS[name]?.(bench));
    }
  } finally {
    await bench.close();
  }
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, `${env.date.replaceAll(/[:.]/g, "-")}.json`);
  writeFileSync(file, JSON.stringify(results, undefined, 1));
  return file;
}

function termsOf({ only, rounds, quick }: Asked): object {
  const usual = quick ? QUICK : USUAL;
  const count = rounds === undefined ? usual.rounds : Number(rounds);
  return { ...usual, rounds: count, only: only?.split(","), quick };
}

function environment(bench: Bench, oldNode: string): PeerResults["env"] {
  const { postgres, options } = bench;
  return {
    node: process.version,
    oldNode: spawnSync(oldNode, ["--version"], { encoding: "utf8" }).stdout.trim(),
    cores: cpus().length,
    memGiB: Math.round(totalmem() / GIB),
    postgres: postgres.version,
    packages: packagesOf(bench),
    rounds: options.rounds,
    targetMs: options.targetMs,
    date: new Date().toISOString(),
  };
}

interface Bench {
  readonly names: readonly string[];
  readonly metas: { readonly [name: string]: { readonly packages: readonly string[] } };
  readonly options: { readonly rounds: number; readonly targetMs: number };
  readonly postgres: { readonly version: string };
  log(line: string): void;
  close(): Promise<void>;
}

interface BenchModule {
  readonly Bench: { open(options: object): Promise<Bench> };
}

interface WorkloadModule {
  readonly WORKLOADS: { readonly [name: string]: (bench: Bench) => Promise<object> };
}

/** The Node that npm installs native modules for, where none was named: the first that is not this package's own. */
function machineNode(): string {
  const own = join(ROOT, "node_modules");
  const path = (process.env["PATH"] ?? "").split(":").filter((folder) => !folder.startsWith(own));
  const { stdout } = spawnSync("which", ["node"], {
    encoding: "utf8",
    env: { ...process.env, PATH: path.join(":") },
  });
  return stdout.trim() || process.execPath;
}

function packagesOf({ names, metas }: Bench): readonly string[] {
  const packages = new Set(names.flatMap((name) => metas[name]?.packages ?? []));
  return [...packages].toSorted().map((name) => {
    const [manifest] = globSync(join(HERE, "node_modules", name, "package.json"));
    const { version = "?" } =
      manifest === undefined ? {} : (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string });
    return `${name} ${version}`;
  });
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
