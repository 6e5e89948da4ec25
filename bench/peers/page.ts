import { median } from "../statistics.ts";
import { goalsOf, heapKib, isOnce } from "./goals.ts";
import { type Cycles, type Growth, OURS, type PeerResults, type Safety } from "./results.ts";

const MIB = 2 ** 20;

/** The page of the documentation: the goals first, every workload after, nothing left out. */
export function toPage(
  results: PeerResults,
  { own, adapters, notes }: { readonly own: string; readonly adapters: string; readonly notes: string },
): string {
  return [
    "# Benchmarks",
    "",
    "Made by `npm run bench:peers`; see [bench/README.md](../bench/README.md). Not edited by hand.",
    "",
    INTRODUCTION,
    "",
    conditions(results),
    "",
    ...busyness(results),
    "## Goals",
    "",
    table(
      ["goal", "found", ""],
      goalsOf(results).map(({ claim, found, met }) => [claim, found, met ? "met" : "**missed**"]),
    ),
    "",
    ...cycles("In memory", results.memory),
    ...cycles("On SQLite", results.sqlite1),
    ...cycles("On SQLite, 8 sessions in flight", results.sqlite8),
    ...cycles("On SQLite, 64 sessions in flight", results.sqlite64),
    ...cycles("On PostgreSQL", results.postgres1),
    ...cycles("On PostgreSQL, 8 sessions in flight", results.postgres8),
    ...cycles("On PostgreSQL, 64 sessions in flight", results.postgres64),
    ...growth(results.growth),
    ...safety(results.safety),
    ...ungated(results.ungated),
    ...memory(results.paused),
    "## The engine over its own SQL",
    "",
    "What the engine costs over the bare statements of its store, and whether a full ledger slows it down.",
    "",
    own.replace(/^# .*\n+/, "").replaceAll(/^## /gm, "### "),
    "## Inside other frameworks",
    "",
    "What our gate costs inside other frameworks. Made by `npm run bench:adapters`. An ungated tool is the framework's own object with every adapter but the ADK's, so that nothing is added to it. A gated cycle makes five writes, as the Runner's does: the key, and four commits (question, decision, claim, result). It reads the ledger five to seven times, the Runner twice.",
    "",
    `<!-- adapters -->\n${adapters}<!-- /adapters -->\n`,
    "## Measured by themselves",
    "",
    notes,
  ].join("\n");
}

const INTRODUCTION = `A scripted model answers at once and calls one gated tool; the run pauses, a person approves, the tool runs, the
model says a last sentence. \`ours\` is this package. \`openai\` and \`aisdk\` have no store for a paused run: their users
write one row, which claims nothing; on SQLite that row is never synced, except as \`aisdk-synced\`. The safety table shows
what that means. \`floor\` is not a peer: a loop of a hundred lines that claims the call and does nothing else; it shows what is
attainable. \`floor-records\` writes what \`ours\` stores in memory, without its engine: no engine with these records can be faster.`;

function conditions({ env }: PeerResults): string {
  const { node, oldNode, cores, memGiB, postgres, packages, rounds, targetMs, date } = env;
  const server = postgres === undefined ? "" : ` PostgreSQL ${postgres.split(" ")[0]}.`;
  return `${date.slice(0, 10)}, ${cores} cores, ${memGiB} GiB, Node ${node}; contenders with a native
module that has to be built for its Node run on ${oldNode}, and their row says so.${server} Interleaved
rounds of about ${targetMs} ms (${rounds} where nothing else is said), one process per contender. Read the ratios: absolutes are of one machine and one hour.
${packages.join(", ")}.`;
}

// Rounds are interleaved, so ratios survive some of it; but whoever waits for a disk that others use is measured with them.
// On PostgreSQL the server's processes and the sessions in flight are themselves the load.
function busyness({ env, memory: inMemory, sqlite1 }: PeerResults): readonly string[] {
  const load = Math.max(...[inMemory, sqlite1].map((results) => results?.load[0] ?? 0));
  if (load <= env.cores) return [];
  return [
    `**The machine was busy with other work (load average up to ${load.toFixed(1)} on ${env.cores} cores): do not quote these numbers.**`,
    "",
  ];
}

function cycles(where: string, results: Cycles | undefined): readonly string[] {
  if (results === undefined) return [];
  const { rates, cpuMsPerCycle, failed, load, nodes } = results;
  const rows = byName(rates).map(([name, samples]) => {
    const label = nodes[name] === nodes[OURS] ? name : `${name} (Node ${nodes[name]})`;
    if (samples.length === 0) return [label, "failed", "", ""];
    const ratio = samples.map((rate, round) => rate / (rates[OURS]?.[round] ?? Number.NaN));
    return [label, number(median(samples)), number(median(ratio)), number(median(cpuMsPerCycle[name] ?? []))];
  });
  return [
    `## ${where}: message, pause, approval, tool, last words`,
    "",
    table(["contender", "cycles/s", "of ours", "CPU ms per cycle"], rows),
    "",
    `${rates[OURS]?.length ?? 0} rounds, load average ${(load[0] ?? 0).toFixed(1)}.${OURS in rates ? "" : " This package has no such store."}${failures(failed)}`,
    "",
  ];
}

function growth(results: PeerResults["growth"]): readonly string[] {
  return Object.entries(results ?? {}).flatMap(([store, { toTool, toFinal, toPause, failed }]) => {
    const sizes = Object.keys(toTool[OURS] ?? {}).toSorted((one, other) => Number(one) - Number(other));
    const most = sizes.at(-1) ?? "";
    const rows = byName(toTool).map(([name, bySize]) => growthRow(name, bySize, { sizes, toFinal, toPause }));
    const columns = sizes.map((size) => `${Number(size).toLocaleString("en")} events`);
    return [
      `## Growing history, ${store}: from the decision to the tool, ms`,
      "",
      table(
        ["contender", ...columns, "growth", `to the last words at ${most}`, `message to pause at ${most}`],
        rows,
      ),
      "",
      ...(Object.keys(failed).length === 0 ? [] : [failures(failed).trim(), ""]),
    ];
  });
}

function growthRow(
  name: string,
  bySize: { readonly [events: string]: readonly number[] },
  { sizes, toFinal, toPause }: Pick<Growth, "toFinal" | "toPause"> & { readonly sizes: readonly string[] },
): readonly string[] {
  const medians = sizes.map((size) => median(bySize[size] ?? []));
  const most = sizes.at(-1) ?? "";
  return [
    name,
    ...medians.map(number),
    number((medians.at(-1) ?? Number.NaN) / (medians[0] ?? Number.NaN)),
    number(median(toFinal[name]?.[most] ?? [])),
    number(median(toPause[name]?.[most] ?? [])),
  ];
}

function safety(results: PeerResults["safety"]): readonly string[] {
  if (results === undefined) return [];
  const rows = byName(results).flatMap(([name, stores]) =>
    Object.entries(stores).map(([store, found]) => safetyRow(`${name}, ${store}`, found)),
  );
  const told = byName(results).flatMap(([name, stores]) =>
    Object.entries(stores).flatMap(([store, { crash }]) =>
      crash === undefined ? [] : [[`${name}, ${store}`, crash.seenBefore ?? "", crash.answer ?? ""]],
    ),
  );
  return [
    "## Safety: how often the tool ran for one approval",
    "",
    table(
      [
        "contender",
        "twice at once",
        "again while it runs",
        "from two processes",
        "from another while it runs",
        "after it ended",
        "kill -9, restart, again",
        "",
      ],
      rows,
    ),
    "",
    "One is right, but for `after it ended`, which counts further runs. What was said after the kill:",
    "",
    table(["contender", "what the store shows", "what the approver is answered"], told),
    "",
  ];
}

function safetyRow(name: string, found: Safety): readonly string[] {
  const { simultaneous, staggered, twoProcesses, twoProcessesStaggered, replay, crash } = found;
  const cells = [simultaneous, staggered, twoProcesses, twoProcessesStaggered, replay].map(
    (runs) => [...new Set(runs)].toSorted((one, other) => one - other).join(" or ") || "–",
  );
  return [name, ...cells, String(crash?.executions ?? "–"), isOnce(found) ? "" : "**more than once**"];
}

function ungated(results: PeerResults["ungated"]): readonly string[] {
  if (results === undefined) return [];
  const { seq, par, direct, failed } = results;
  const rows = byName(seq).map(([name, samples]) => [
    name,
    number(median(samples)),
    number(median(par[name] ?? [])),
  ]);
  return [
    "## A call that needs nobody, µs per call",
    "",
    table(["contender", "50 turns of 1 call", "1 turn of 50 calls"], rows),
    "",
    `Awaiting the function itself: ${median(direct).toFixed(3)} µs.${failures(failed)}`,
    "",
  ];
}

function memory(results: PeerResults["paused"]): readonly string[] {
  if (results === undefined) return [];
  const rows = byName(results).map(([name, found]) => {
    const { n = Number.NaN, rss0 = Number.NaN, rss1 = Number.NaN, error } = found;
    if (error !== undefined) return [name, "failed", "", ""];
    return [name, number(heapKib(found)), number((rss1 - rss0) / n / 1_024), number(rss1 / MIB)];
  });
  return [
    "## Paused sessions, in memory",
    "",
    table(
      ["contender", "live heap per session, KiB", "memory per session, KiB", "process at the end, MiB"],
      rows,
    ),
    "",
    "With the in-memory ledger the rows themselves are in the process's memory, though not on its heap; with a file they are not.",
    "",
  ];
}

function failures(failed: { readonly [contender: string]: string }): string {
  return Object.entries(failed)
    .map(([name, why]) => ` ${name} failed: ${why.split("\n")[0]}.`)
    .join("");
}

function byName<T>(record: { readonly [name: string]: T }): readonly (readonly [string, T])[] {
  return Object.entries(record).toSorted(
    ([one], [other]) => Number(other === OURS) - Number(one === OURS) || one.localeCompare(other),
  );
}

function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 99.5) return Math.round(value).toLocaleString("en");
  return value.toPrecision(value < 0.1 ? 1 : 2);
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const isNumber = columns.map(
    (_, place) => place > 0 && rows.every((row) => /^[\d.,–e-]*$/.test(row[place] ?? "")),
  );
  const lines = [columns, isNumber.map((yes) => (yes ? "---:" : "---")), ...rows];
  return lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

// Answers of others may hold anything.
function cell(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;").slice(0, 300);
}
