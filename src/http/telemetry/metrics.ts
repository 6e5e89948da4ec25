import { metrics as telemetry } from "@opentelemetry/api";
import { METRICS, type MetricDefinition, type MetricName } from "./catalog.ts";
import { emptyHistogram, type Histogram, observed } from "./histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number | Histogram;
}

// Clients can invent paths and methods, but not routes; this limit guards against a bug of ours.
const MOST_SERIES = 1_000;

/**
 * What this process has counted. Everything also goes to OpenTelemetry, if the host program has set it up. Values of
 * the ledger are not counted here but read at each scrape.
 */
export class Metrics {
  readonly #samples = new Map<MetricName, Map<string, Sample>>();
  readonly #told = new Map<MetricName, (value: number, labels: Labels) => void>();

  /** Adds to a counter or a gauge. */
  add(metric: MetricName, labels: Labels = {}, value = 1): void {
    this.#update(metric, labels, (before = 0) => (typeof before === "number" ? before + value : before));
    this.#tell(metric, value, labels);
  }

  /** Notes in a histogram how long something took. */
  observe(metric: MetricName, labels: Labels, seconds: number): void {
    const { buckets = [] } = METRICS[metric];
    this.#update(metric, labels, (before) =>
      observed(typeof before === "object" ? before : emptyHistogram(buckets), buckets, seconds),
    );
    this.#tell(metric, seconds, labels);
  }

  samples(metric: MetricName): readonly Sample[] {
    return [...(this.#samples.get(metric)?.values() ?? [])];
  }

  #update(metric: MetricName, labels: Labels, change: (before?: Sample["value"]) => Sample["value"]): void {
    const series = this.#samples.get(metric) ?? new Map<string, Sample>();
    const key = JSON.stringify(METRICS[metric].labels.map((name) => labels[name]));
    const before = series.get(key);
    if (before === undefined && series.size >= MOST_SERIES) return;
    this.#samples.set(metric, series.set(key, { labels, value: change(before?.value) }));
  }

  // Created when first used: a host sets up OpenTelemetry before it serves, but not before it imports.
  #tell(metric: MetricName, value: number, labels: Labels): void {
    let tell = this.#told.get(metric);
    if (tell === undefined) {
      tell = instrument(METRICS[metric]);
      this.#told.set(metric, tell);
    }
    tell(value, labels);
  }
}

function instrument(definition: MetricDefinition): (value: number, labels: Labels) => void {
  const meter = telemetry.getMeter("countersign");
  const { name, help: description, buckets } = definition;
  switch (definition.kind) {
    case "counter": {
      const counter = meter.createCounter(name, { description });
      return (value, labels) => counter.add(value, labels);
    }
    case "gauge": {
      const gauge = meter.createUpDownCounter(name, { description });
      return (value, labels) => gauge.add(value, labels);
    }
    case "histogram": {
      const advice = { explicitBucketBoundaries: [...(buckets ?? [])] };
      const histogram = meter.createHistogram(name, { description, unit: "s", advice });
      return (value, labels) => histogram.record(value, labels);
    }
  }
}
