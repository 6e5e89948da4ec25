// What our gate costs inside other frameworks: `npm run bench:adapters`.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePeer } from "../scripts/test-tools.ts";
import { PEERS } from "../test/adapters/subjects/peers.ts";
import type { Sample } from "./adapter-process.ts";
import { ONE_THREAD } from "./cpu.ts";
import { describeLoad, describeMachine, Report, type Verdict } from "./report.ts";
import { median, pairedRatio } from "./statistics.ts";
import { ungatedCosts } from "./ungated.ts";

const PROCESS = fileURLToPath(new URL("adapter-process.ts", import.meta.url));
const KEPT = fileURLToPath(new URL("ADAPTERS.md", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));
const MARKED = /<!-- adapters -->\n[\s\S]*?<!-- \/adapters -->/;
const MAX_UNGATED_US = 20;
const MAX_CYCLE = 1.3;
/** What the gate may add to a framework, in cycles of our own Runner. */
const MAX_ADDED = 1;
const STORES = ["memory", "sqlite"] as const;
const OWN = ["ai-sdk", "langchain", "openai-agents"];
/** Each of its runs starts a program, which takes a second: what the gate adds cannot be seen beside it. */
const TOO_SLOW = "claude-agent-sdk";
const LEFT_OUT =
  "Left out: the Claude Agent SDK, each of whose runs starts a program that takes a second, and servers of MCP, whose own pause needs another transport than the gate's.";

type Store = (typeof STORES)[number];

const report = new Report((line) => process.stderr.write(`${line}\n`));
const before = describeLoad();
const peers = PEERS.filter(({ name }) => name !== TOO_SLOW);
for (const { folder } of peers) ensurePeer(folder);

const all = [...OWN, ...peers.map(({ name }) => name)];
const given = process.argv.slice(2);
const names = given.length === 0 ? all : all.filter((name) => given.includes(name));
const notRun = all.filter((name) => !names.includes(name));
const missing = notRun.length === 0 ? "" : ` **Not measured in this run: ${notRun.join(", ")}.**`;

for (const [name, added] of Object.entries(await ungatedCosts()))
  report.goal(
    `${name}, our own code alone: an ungated call adds less than ${MAX_UNGATED_US} µs`,
    `${added.toFixed(1)} µs`,
    added < MAX_UNGATED_US ? "met" : "missed",
  );

for (const store of STORES) {
  const rows = names.map((name) => {
    report.progress(`${name}, ${store}`);
    return rowOf({ name, store }, samplesOf(name, store));
  });
  report.table(
    `Inside other frameworks (${store})`,
    [
      "adapter",
      "ungated call, added µs of CPU",
      "gated cycle / Runner, CPU",
      "the same, wall",
      "added by the gate / Runner, CPU",
      "framework alone / Runner, CPU",
      "cycle, ms of CPU",
    ],
    rows,
  );
}
const how = `Rounds are interleaved, one process per framework; medians of ratios within a round. Compiler and garbage collector work on the main thread. ${LEFT_OUT} Load average ${before} when it began, ${describeLoad()} at its end.${missing}`;
const text = report.toMarkdown(`${describeMachine()} ${how}`).replace("# Benchmark results", "").trim();
const section = text.replaceAll(/^## /gm, "### ");
process.stdout.write(`${section}\n`);
writeFileSync(KEPT, `${section}\n`);
const page = readFileSync(PAGE, "utf8");
writeFileSync(PAGE, page.replace(MARKED, `<!-- adapters -->\n${section}\n<!-- /adapters -->`));

function samplesOf(name: string, store: Store): readonly Sample[] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [ONE_THREAD, "--expose-gc", PROCESS, name, store],
    {
      encoding: "utf8",
      cwd: join(PROCESS, ".."),
    },
  );
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "[]") as readonly Sample[];
}

/** Far below zero, the machine was too busy: the two programs differ only in the adapter. */
function ungatedVerdict(ungated: number): Verdict {
  if (ungated < -MAX_UNGATED_US) return "not shown";
  return ungated < MAX_UNGATED_US ? "met" : "missed";
}

function runnerCpu({ runner }: Sample): number {
  return runner.cpu;
}

function rowOf(
  { name, store }: { readonly name: string; readonly store: Store },
  samples: readonly Sample[],
): readonly string[] {
  const ratio = (of: (sample: Sample) => number, base: (sample: Sample) => number): number =>
    pairedRatio(samples.map(of), samples.map(base));
  const ungated = median(samples.map((sample) => sample.ungated.cpu - sample.plain.cpu));
  const cycle = ratio(({ gated }) => gated.cpu, runnerCpu);
  const wall = ratio(
    ({ gated }) => gated.wall,
    ({ runner }) => runner.wall,
  );
  const added = ratio(({ gated, alone }) => gated.cpu - alone.cpu, runnerCpu);
  const alone = ratio((sample) => sample.alone.cpu, runnerCpu);
  report.goal(
    `${name}, ${store}: an ungated call adds less than ${MAX_UNGATED_US} µs`,
    `${ungated.toFixed(1)} µs`,
    ungatedVerdict(ungated),
  );
  report.goal(
    `${name}, ${store}: the gate adds at most the CPU of a whole cycle of our Runner`,
    added.toFixed(2),
    added <= MAX_ADDED ? "met" : "missed",
  );
  report.goal(
    `${name}, ${store}: a gated cycle takes at most ${MAX_CYCLE} times the CPU of our Runner's`,
    `${cycle.toFixed(2)}; the framework alone: ${alone.toFixed(2)}`,
    cycle <= MAX_CYCLE ? "met" : "missed",
  );
  const total = median(samples.map(({ gated }) => gated.cpu / 1_000));
  return [
    `\`${name}\``,
    ungated.toFixed(1),
    ...[cycle, wall, added, alone, total].map((one) => one.toFixed(2)),
  ];
}
