import fc from "fast-check";
import { expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { useResources } from "../support/resources.ts";
import { PEOPLE, startSlackScene } from "../support/slack/slack-scene.ts";
import { pressPayload, signedRequest, submitPayload } from "../support/slack/slack-stand-in.ts";
import { mutationsOf } from "./mutations.ts";

const resources = useResources();
const REQUESTS = effort({ short: 2_500, long: 10_000 });
const AT_ONCE = 50;
const SEED = 17;

test(`${REQUESTS} requests with odd contents decide nothing, and none is answered with a 5xx`, async () => {
  const people = [...PEOPLE, { id: "zoe", slack: "zoe@example.com" }];
  const scene = await startSlackScene(resources, { ledger: "memory:", people });
  const id = await scene.ask({ approvers: { users: ["bob"] } });
  const card = await scene.card("U0BOB", id);
  await scene.press(card, { user: "U0BOB", action: "reject" });
  const [view = {}] = scene.slack.views;
  // By people whom the rule does not ask, so that an unharmed request decides nothing either.
  const bases = [
    pressPayload(card, { user: "U0ANA", action: "approve" }),
    pressPayload(card, { user: "U0NOBODY", action: "reject" }),
    submitPayload(view, "U0ANA", { reason: "x" }),
  ];
  // Slack is away, so that no answer waits for it.
  await scene.slack.close();
  const request = fc.oneof(
    { weight: 8, arbitrary: mutationsOf(bases, ["__proto__", "U0ANA", "approve"]) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    {
      weight: 1,
      arbitrary: fc.jsonValue().map((value) => `payload=${encodeURIComponent(JSON.stringify(value))}`),
    },
  );
  const requests = fc.sample(request, { numRuns: REQUESTS, seed: SEED });
  const statuses = new Set<number>();
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const sending = requests.slice(from, from + AT_ONCE).map(async (each) => {
      const { status } = await scene.app.fetch(signedRequest(each));
      statuses.add(status);
    });
    await Promise.all(sending);
  }
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400]);
  const { status, decision } = await scene.engine.confirmation(id);
  expect([status, decision]).toEqual(["requested", undefined]);
}, 120_000);
