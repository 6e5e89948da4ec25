import { join } from "node:path";
import { ContenderProcess } from "./contender-process.ts";
import type { GrowthPlan, Series } from "./growth.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report.ts";
import { median, quantile } from "./statistics.ts";

const SAMPLES_PER_ROUND = 30;
const GOAL = 1.3;

const WHAT = {
  history: "events in the session",
  pending: "open confirmations in the ledger",
} as const satisfies Record<GrowthPlan["what"], string>;

/** Latency from the decision to the tool's first line, and of an inbox page, as the ledger fills. */
export async function reportGrowth(options: Options, folder: string, report: Report): Promise<void> {
  const samples = options.rounds * SAMPLES_PER_ROUND;
  const common = { samples, warmUp: options.quick ? 20 : 300 };
  const most = options.quick ? 100_000 : 1_000_000;
  const plans: readonly GrowthPlan[] = [
    { ...common, what: "history", sizes: [10, 1_000, 100_000] },
    { ...common, what: "pending", sizes: [100, 10_000, most] },
  ];
  const rows: string[][] = [];
  for (const plan of plans) {
    report.progress(`growth/${plan.what}: fills ledgers with ${plan.sizes.join(", ")}`);
    const process = new ContenderProcess("engine", { store: "sqlite", file: join(folder, plan.what) });
    try {
      const { series, loadMs } = await process.run({ kind: "growth", plan });
      report.progress(
        `growth/${plan.what}: filled in ${loadMs.map((ms) => `${Math.round(ms)} ms`).join(", ")}`,
      );
      for (const one of series) rows.push(...seriesRows(plan.what, one, report));
    } finally {
      await process.stop();
    }
  }
  report.table(
    "Growth: decision to tool body, and the first inbox page of one tool",
    ["measured", "with", "median / smallest", "median µs", "90% within µs"],
    rows,
  );
}

function seriesRows(what: GrowthPlan["what"], { name, bySize }: Series, report: Report): string[][] {
  const smallest = median(bySize[0]?.us ?? []);
  const worst = Math.max(...bySize.map(({ us }) => median(us))) / smallest;
  report.goal(
    `${name}, by ${WHAT[what]}: at most ${GOAL} times the smallest`,
    worst.toFixed(2),
    worst <= GOAL ? "met" : "missed",
  );
  return bySize.map(({ size, us }) => [
    name,
    `${size.toLocaleString("en")} ${WHAT[what]}`,
    (median(us) / smallest).toFixed(2),
    Math.round(median(us)).toLocaleString("en"),
    Math.round(quantile(us, 0.9)).toLocaleString("en"),
  ]);
}
