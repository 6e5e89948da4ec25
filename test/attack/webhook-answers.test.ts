import { expect, test } from "vitest";
import { createWebhookChannel } from "../../src/channels/webhook/index.ts";
import { answerOf, PEOPLE, startWebhookScene } from "../support/http/webhook-scene.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const FIVE_MINUTES_MS = 300_000;

test("a signed answer decides as the person whom the configuration names", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  const answer = await scene.send(answerOf(told, { reason: "fine" }));
  expect(answer).toMatchObject({ status: 200, json: { confirmation: told.id } });
  expect((await scene.engine.confirmation(told.id)).decision).toMatchObject({
    confirmed: true,
    by: { id: "bob", kind: "channel", authenticated: true },
    via: "webhook",
    reason: "fine",
  });
});

test("a payload goes to the tool, and one that does not fit leaves the question open", async () => {
  const scene = await startWebhookScene(resources);
  const schema = { type: "object", properties: { days: { type: "number" } }, required: ["days"] };
  const told = await scene.ask({ schema });
  expect((await scene.send(answerOf(told, { payload: { days: "x" } }))).status).toBe(422);
  expect(await scene.status(told.id)).toBe("requested");
  expect((await scene.send(answerOf(told, { payload: { days: 3 } }))).status).toBe(200);
  await scene.engine.finished((await scene.engine.ledger.load({ confirmation: told.id }))?.call?.id ?? "");
  expect(scene.ran).toMatchObject([{ payload: { days: 3 } }]);
});

test("forged, altered, old and early requests are refused, and our own messages sent back to us", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  const body = answerOf(told);
  const unsigned = scene.request(body);
  unsigned.headers.delete("webhook-signature");
  const { headers } = scene.request(body);
  const altered = new Request(unsigned.url, { method: "POST", headers, body: `${JSON.stringify(body)} ` });
  const renamed = scene.request(body);
  renamed.headers.set("webhook-id", "evt_other");
  const reflected = scene.receiver.received.find(({ body: text }) => text.includes(told.id));
  const mirror = new Request(unsigned.url, {
    method: "POST",
    headers: new Headers(
      Object.entries(reflected?.headers ?? {}).filter(([name]) => name.startsWith("webhook-")) as [
        string,
        string,
      ][],
    ),
    body: reflected?.body ?? "",
  });
  const refused = [
    await scene.app.fetch(unsigned),
    await scene.app.fetch(altered),
    await scene.app.fetch(renamed),
    await scene.app.fetch(mirror),
    await scene.app.fetch(scene.request(body, { secret: scene.ownSecret })),
    await scene.app.fetch(scene.request(body, { at: Date.now() - FIVE_MINUTES_MS - 2_000 })),
    await scene.app.fetch(scene.request(body, { at: Date.now() + FIVE_MINUTES_MS + 2_000 })),
    await scene.app.fetch(scene.request(body, { id: "a.b" })),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 401));
  const got = await scene.app.fetch(new Request(unsigned.url));
  expect(got.status).toBe(405);
  expect(await scene.status(told.id)).toBe("requested");
});

test("a value of another question or version, or none, decides nothing", async () => {
  const scene = await startWebhookScene(resources);
  const [one, other] = [await scene.ask(), await scene.ask()];
  const value = String(one.answerTo);
  for (const answerTo of [
    other.answerTo,
    value.replace(/^\d+/, "2"),
    value.slice(0, -1),
    "",
    "1.",
    null,
    1,
  ]) {
    const { status } = await scene.send(answerOf(one, { answerTo }));
    expect(status).toBe(400);
  }
  expect((await scene.send(answerOf(one, { confirmation: other.id }))).status).toBe(400);
  expect([await scene.status(one.id), await scene.status(other.id)]).toEqual(["requested", "requested"]);
});

test("a role, a stranger, and a person whom the rule does not ask decide nothing, and that is journalled", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  for (const person of ["eve.n8n", "bob", "manager", "role:manager", "nobody", "__proto__"])
    expect((await scene.send(answerOf(told, { person }))).status).toBe(403);
  for (const over of [{ roles: ["manager"] }, { by: { id: "bob" } }, { args: {} }])
    expect((await scene.send(answerOf(told, over))).status).toBe(400);
  expect(await scene.status(told.id)).toBe("requested");
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  expect(records.filter(({ kind }) => kind === "decision-refused")).toHaveLength(6);
});

test("a request that is sent again is answered again, and votes once", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  const body = JSON.stringify(answerOf(told, { confirmed: false }));
  const signing = { id: "evt_same" };
  const answers = await Promise.all(Array.from({ length: 5 }, () => scene.send(body, signing)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  expect(records.filter(({ kind }) => kind === "confirmation-denied")).toHaveLength(1);
  expect(await scene.send(body, signing)).toMatchObject({ status: 200, json: { repeated: true } });
  // The same id with another answer.
  expect((await scene.send(answerOf(told, { confirmed: true }), signing)).status).toBe(409);
  expect((await scene.send(answerOf(told, { confirmed: true }))).status).toBe(409);
});

test("who is no longer an approver, or no longer configured, decides nothing with the value that they have", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  const roleless = PEOPLE.map(({ id, webhook }) => ({ id, webhook }));
  const gone = PEOPLE.filter(({ id }) => id !== "bob");
  const renamed = PEOPLE.map((person) => (person.id === "bob" ? { ...person, webhook: "rob.n8n" } : person));
  for (const people of [roleless, gone, renamed]) {
    const answer = await scene.entriesFor(people).fetch(scene.request(answerOf(told)));
    expect(answer.status).toBe(403);
  }
  expect(await scene.status(told.id)).toBe("requested");
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  expect(records.filter(({ kind }) => kind === "decision-refused")).toHaveLength(3);
  // It was their right that was missing: with it, the same value decides.
  expect((await scene.send(answerOf(told))).status).toBe(200);
});

test("without answers there is no door, and no value; and answers need a secret of their own", async () => {
  const { engine, ownSecret } = await startWebhookScene(resources);
  const options = { url: "https://example.com", secrets: [ownSecret] };
  expect(createWebhookChannel(options).entries).toBeUndefined();
  for (const secrets of [[], [ownSecret]])
    expect(() =>
      createWebhookChannel({ ...options, answers: { secrets, people: PEOPLE, ledger: engine.ledger } }),
    ).toThrow(expect.objectContaining({ code: "invalid-option" }));
});
