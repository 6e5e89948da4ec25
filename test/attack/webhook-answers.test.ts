import { expect, test } from "vitest";
import type { ChannelApprovals } from "../../src/channels/index.ts";
import {
  createWebhookChannel,
  newWebhookSecret,
  parseWebhookSecret,
  signWebhook,
} from "../../src/channels/webhook/index.ts";
import { ManualClock } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { answerOf, PEOPLE, startWebhookScene } from "../support/http/webhook-scene.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

test("a payload goes to the tool, and one that does not fit leaves the question open", async () => {
  const scene = await startWebhookScene(resources);
  const schema = { type: "object", properties: { days: { type: "number" } }, required: ["days"] };
  const told = await scene.ask({ schema });
  expect((await scene.send(answerOf(told, { payload: { days: "x" } }))).status).toBe(422);
  expect(await scene.status(told.id)).toBe("requested");
  expect(await scene.send(answerOf(told, { payload: { days: 3 } }))).toMatchObject({
    status: 200,
    json: { confirmation: told.id },
  });
  await scene.engine.finished((await scene.engine.ledger.load({ confirmation: told.id }))?.call?.id ?? "");
  expect(scene.ran).toMatchObject([{ payload: { days: 3 } }]);
});

test("an answer of somebody who is not asked, or that names rights, another person or other arguments, is refused", async () => {
  const scene = await startWebhookScene(resources);
  const told = await scene.ask();
  expect((await scene.send(answerOf(told, { person: "eve.n8n" }))).status).toBe(403);
  for (const over of [{ roles: ["manager"] }, { by: { id: "bob" } }, { args: {} }])
    expect((await scene.send(answerOf(told, over))).status).toBe(400);
  expect(await scene.status(told.id)).toBe("requested");
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

test("a request is taken up to five minutes before and after its time, to the second", async () => {
  const secret = newWebhookSecret();
  const clock = new ManualClock();
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const { entries } = createWebhookChannel({
    url: "https://example.com",
    secrets: [newWebhookSecret()],
    clock,
    answers: { secrets: [secret], people: PEOPLE, ledger },
  });
  const body = "{}";
  const statusAt = async (skew: number): Promise<number | undefined> => {
    const timestamp = clock.now() / 1_000 + skew;
    const signature = signWebhook({ id: "evt_1", timestamp, body }, [parseWebhookSecret(secret)]);
    const headers = new Headers({
      "webhook-id": "evt_1",
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signature,
    });
    const request = { method: "POST", headers, body: Buffer.from(body) };
    // Whoever is not believed gets no further than the door.
    return (await entries?.["answers"]?.(request, {} as ChannelApprovals))?.status;
  };
  expect(await Promise.all([-300, 0, 300].map(statusAt))).toEqual([400, 400, 400]);
  expect(await Promise.all([-301, 301].map(statusAt))).toEqual([401, 401]);
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
