import { metrics as telemetry } from "@opentelemetry/api";
import type { Ledger } from "../../engine/index.ts";
import { METRIC_NAMES, METRICS } from "./catalog.ts";
import { readLedgerSamples } from "./ledger-samples.ts";

/**
 * Tells OpenTelemetry what the ledger says whenever it collects, where the host program has set that up. It has no
 * histograms that are read instead of recorded: those are told only to Prometheus.
 */
export function observeLedger(ledger: () => Promise<Ledger>): void {
  const meter = telemetry.getMeter("countersign");
  const observed = METRIC_NAMES.flatMap((key) => {
    const { name, kind, help: description, readFrom } = METRICS[key];
    if (readFrom === undefined || kind === "histogram") return [];
    const instrument =
      kind === "counter"
        ? meter.createObservableCounter(name, { description })
        : meter.createObservableGauge(name, { description });
    return [{ key, instrument }];
  });
  meter.addBatchObservableCallback(
    async (result) => {
      const samples = await readLedgerSamples(await ledger());
      for (const { key, instrument } of observed) {
        for (const { labels, value } of samples(key)) {
          if (typeof value === "number") result.observe(instrument, value, labels);
        }
      }
    },
    observed.map(({ instrument }) => instrument),
  );
}
