import { type BatchObservableCallback, metrics as telemetry } from "@opentelemetry/api";
import { afterEach, expect, test } from "vitest";
import { Engine } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { Metrics } from "./metrics.ts";
import { observeLedger } from "./observe-ledger.ts";

afterEach(() => telemetry.disable());

type Told = readonly [name: string, value: number, labels: unknown];

/** The least that a host could set up: a list of what was recorded, and a way to collect what is observed. */
function recordMeter() {
  const told: Told[] = [];
  let callback: BatchObservableCallback | undefined;
  const recorder = (name: string) => {
    const tell = (value: number, labels: unknown): void => void told.push([name, value, labels]);
    return { name, add: tell, record: tell };
  };
  const meter = {
    createCounter: recorder,
    createUpDownCounter: recorder,
    createHistogram: recorder,
    createObservableCounter: recorder,
    createObservableGauge: recorder,
    addBatchObservableCallback: (given: BatchObservableCallback) => {
      callback = given;
    },
  };
  telemetry.setGlobalMeterProvider({ getMeter: () => meter } as never);
  const collect = async (): Promise<readonly Told[]> => {
    const observed: Told[] = [];
    const observe = (instrument: unknown, value: number, labels: unknown): void =>
      void observed.push([(instrument as { readonly name: string }).name, value, labels]);
    const collected: unknown = callback?.({ observe });
    await collected;
    return observed;
  };
  return { told, collect };
}

test("everything counted here goes to OpenTelemetry too", () => {
  const { told } = recordMeter();
  const metrics = new Metrics();
  metrics.add("openStreams", { route: "/s" });
  metrics.add("openStreams", { route: "/s" }, -1);
  metrics.observe("requestSeconds", { method: "GET", route: "/" }, 0.25);
  expect(told).toEqual([
    ["countersign_http_open_streams", 1, { route: "/s" }],
    ["countersign_http_open_streams", -1, { route: "/s" }],
    ["countersign_http_request_duration_seconds", 0.25, { method: "GET", route: "/" }],
  ]);
});

test("the ledger's values go to OpenTelemetry when it collects", async () => {
  const { collect } = recordMeter();
  const ledger = await createLedger("memory:");
  const engine = new Engine({ ledger });
  observeLedger(async () => ledger);
  const refund = engine.gate("refund", { requireConfirmation: true }, async () => "sent");
  await refund({}, { key: "1", by: { id: "ana" } });
  const observed = await collect();
  expect(observed).toContainEqual(["countersign_confirmations_total", 1, { event: "requested" }]);
  expect(observed).toContainEqual(["countersign_pending_confirmations", 1, {}]);
  await engine.close();
});
