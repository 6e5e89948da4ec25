import { metrics as telemetry } from "@opentelemetry/api";
import type { Ledger } from "../../engine/index.ts";
import { METRIC_NAMES, METRICS } from "./catalog.ts";
import { readLedgerSamples } from "./ledger-samples.ts";

/**
 * Reports the ledger's values to OpenTelemetry at each collection, if the host program has set it up. OpenTelemetry has
 * no precomputed histograms, so those go only to Prometheus.
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
