import fc from "fast-check";
import { expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { answerOf, startWebhookScene } from "../support/http/webhook-scene.ts";
import { useResources } from "../support/resources.ts";
import { mutationsOf } from "./mutations.ts";

const resources = useResources();
const REQUESTS = effort({ short: 2_500, long: 10_000 });
const AT_ONCE = 50;
const SEED = 17;

test(`${REQUESTS} signed requests with odd contents decide nothing, and none is answered with a 5xx`, async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  // By people whom the rule does not ask, so that an unharmed request decides nothing either.
  const bases = [
    answerOf(told, { person: "eve.n8n" }),
    answerOf(told, { person: "nobody", confirmed: false, reason: "x", payload: { a: 1 } }),
  ] as { readonly [name: string]: unknown }[];
  const body = fc.oneof(
    {
      weight: 8,
      arbitrary: mutationsOf(bases, ["__proto__", "eve.n8n", "manager"]).map((value) =>
        JSON.stringify(value),
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  );
  const requests = fc.sample(body, { numRuns: REQUESTS, seed: SEED });
  const statuses = new Set<number>();
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const sending = requests.slice(from, from + AT_ONCE).map(async (each) => {
      statuses.add((await scene.app.fetch(scene.request(each))).status);
    });
    await Promise.all(sending);
  }
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([400, 403]);
  const { status, votes } = await scene.engine.confirmation(told.id);
  expect([status, votes]).toEqual(["requested", []]);
}, 120_000);
