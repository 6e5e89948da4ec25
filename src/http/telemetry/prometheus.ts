import { METRIC_NAMES, METRICS, type MetricDefinition, type MetricName } from "./catalog.ts";
import type { Histogram } from "./histogram.ts";
import type { Labels, Sample } from "./metrics.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics as Prometheus reads them (text format 0.0.4). */
export function toPrometheus(samplesOf: (metric: MetricName) => readonly Sample[]): string {
  return METRIC_NAMES.map((name) => family(METRICS[name], samplesOf(name))).join("");
}

function family(definition: MetricDefinition, samples: readonly Sample[]): string {
  const { name, help, kind, buckets = [] } = definition;
  const lines = samples.flatMap(({ labels, value }) =>
    typeof value === "number"
      ? [`${name}${labelText(labels)} ${value}`]
      : histogramLines(name, { labels, buckets, histogram: value }),
  );
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines, ""].join("\n");
}

function histogramLines(
  name: string,
  { labels, buckets, histogram }: { labels: Labels; buckets: readonly number[]; histogram: Histogram },
): readonly string[] {
  let total = 0;
  const lines = histogram.counts.map((count, i) => {
    total += count;
    return `${name}_bucket${labelText({ ...labels, le: String(buckets[i] ?? "+Inf") })} ${total}`;
  });
  return [
    ...lines,
    `${name}_sum${labelText(labels)} ${histogram.sum}`,
    `${name}_count${labelText(labels)} ${total}`,
  ];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
