import fc from "fast-check";
import { expect, test } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { effort } from "../support/effort.ts";
import { PEOPLE, startMailScene } from "../support/mail/mail-scene.ts";
import { useResources } from "../support/resources.ts";
import { mutationsOf } from "./mutations.ts";

const resources = useResources();
const REQUESTS = effort({ short: 2_500, long: 10_000 });
const AT_ONCE = 50;
const SEED = 17;
const BOB = "bob@example.com";

test(`${REQUESTS} odd uses of links decide nothing, show nothing, and none is answered with a 5xx`, async () => {
  const scene = await startMailScene(resources, { ledger: "memory:" });
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  // Bob is a manager no more, so that an unharmed request decides nothing either.
  const people = PEOPLE.map(({ id: person, email }) => ({ id: person, email }));
  const app = createApp({
    apps: {},
    engine: scene.engine,
    authenticate: () => undefined,
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
    mounts: [scene.entriesFor(people)],
  });
  resources.add(() => app.drain());
  const bases = [
    { link, confirmed: true },
    { link, confirmed: false, reason: "x" },
  ];
  const words = ["__proto__", String(link), String(link).slice(0, 33), "true"] as const;
  const body = fc.oneof(
    { weight: 8, arbitrary: mutationsOf(bases, words).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  );
  const entry = fc.constantFrom("decision", "decision", "decision", "card", "link", "nothing");
  const method = fc.constantFrom("POST", "POST", "POST", "PUT", "DELETE");
  const requests = fc.sample(fc.tuple(method, entry, body), { numRuns: REQUESTS, seed: SEED });
  const statuses = new Set<number>();
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const sending = requests.slice(from, from + AT_ONCE).map(async ([verb, place, text]) => {
      const url = `http://127.0.0.1/channels/email/${place}`;
      const answer = await app.fetch(new Request(url, { method: verb, body: text }));
      statuses.add(answer.status);
      expect(await answer.text()).not.toContain("zoe");
    });
    await Promise.all(sending);
  }
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([400, 401, 403, 405, 409, 415]);
  const { status, votes } = await scene.engine.confirmation(id);
  expect([status, votes]).toEqual(["requested", []]);
  // And the link still decides for whoever is asked.
  expect(await scene.post("decision", { link, confirmed: true })).toMatchObject({ status: 200 });
}, 120_000);
