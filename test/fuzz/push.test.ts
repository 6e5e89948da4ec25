import fc from "fast-check";
import { expect, test } from "vitest";
import { createInbound } from "../../src/channels/index.ts";
import { createPushChannel } from "../../src/channels/push/index.ts";
import { createApp } from "../../src/http/index.ts";
import { createEngine } from "../../src/index.ts";
import { effort } from "../support/effort.ts";
import { createDevice } from "../support/push/device.ts";
import { useResources } from "../support/resources.ts";
import { mutationsOf } from "./mutations.ts";

const resources = useResources();
const REQUESTS = effort({ short: 2_500, long: 10_000 });
const AT_ONCE = 50;
const SEED = 17;

test(`${REQUESTS} odd subscriptions decide nothing, name no private address, and none is answered with a 5xx`, async () => {
  const engine = await createEngine({ ledger: "memory:" });
  resources.add(() => engine.close());
  const channel = createPushChannel({ ledger: engine.ledger, contact: "mailto:ops@example.com" });
  const app = createApp({
    apps: {},
    engine,
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
    mounts: [createInbound(engine, [channel])],
  });
  resources.add(() => app.drain());
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => 1);
  const asked = await pay({}, { key: "k", by: { id: "ana" } });
  const base = createDevice("https://push.example/device").subscription;
  const words = [
    "__proto__",
    "https://127.0.0.1/",
    "http://push.example/",
    "https://push.example:1/",
    "https://[::1]/",
  ] as const;
  const body = fc.oneof(
    {
      weight: 8,
      arbitrary: mutationsOf([base], words).map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  );
  const method = fc.constantFrom("PUT", "PUT", "PUT", "DELETE", "POST");
  const route = fc.constantFrom("subscriptions", "subscriptions", "key", "interactions");
  const requests = fc.sample(fc.tuple(method, route, body), { numRuns: REQUESTS, seed: SEED });
  const statuses = new Set<number>();
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const sending = requests.slice(from, from + AT_ONCE).map(async ([verb, place, text]) => {
      const url = `http://127.0.0.1/channels/push/${place}`;
      const headers = { "content-type": "application/json" };
      const { status } = await app.fetch(new Request(url, { method: verb, headers, body: text }));
      statuses.add(status);
    });
    await Promise.all(sending);
  }
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([204, 400, 404, 405, 422]);
  const { items } = await engine.ledger.items.list("push-subscription", { limit: 100 });
  for (const { value } of items)
    expect(JSON.stringify(value)).toMatch(/"endpoint":"https:\/\/[a-z0-9-]+\.[^:@"]*"/);
  expect(asked.status).toBe("pending");
  const again = await pay({}, { key: "k", by: { id: "ana" } });
  expect(again.status).toBe("pending");
}, 120_000);
