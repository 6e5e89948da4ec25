import { createHmac, timingSafeEqual } from "node:crypto";
import { describe, expect, test } from "vitest";
import { playRecipient } from "../../../test/support/http/recipient-play.ts";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { useResources } from "../../../test/support/resources.ts";
import { ManualClock } from "../../engine/index.ts";
import { buildNotice, type ChannelSubject, channelContract } from "../channel.contract.ts";
import { createWebhookChannel } from "./webhook-channel.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
const signal = new AbortController().signal;
const resources = useResources();

async function receive(): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  return receiver;
}

async function createSubject(): Promise<ChannelSubject> {
  const receiver = await receive();
  const url = `${receiver.url}/hooks/t0ken?key=hidden`;
  return {
    channel: createWebhookChannel({ url, secrets: [SECRET] }),
    sendsData: true,
    secrets: [SECRET, SECRET.slice(6), "t0ken", "hidden"],
    arrived: () => receiver.received.map(({ id, body }) => ({ id, text: body })),
    found: () => new Set(receiver.received.map(({ id }) => id)).size,
    play: (play) => playRecipient(receiver, play),
  };
}

describe("a webhook keeps the channel's contract", () => {
  test.each(channelContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

test("a notice that is told twice arrives twice, with one id", async () => {
  const receiver = await receive();
  const channel = createWebhookChannel({ url: receiver.url, secrets: [SECRET] });
  await channel.tell(buildNotice(), signal);
  await channel.tell(buildNotice(), signal);
  expect(receiver.received.map(({ id }) => id)).toEqual(["msg_1", "msg_1"]);
});

test("a message is signed with every secret, over its id, its time and exactly its body", async () => {
  const receiver = await receive();
  const clock = new ManualClock(1_800_000_000_999);
  const channel = createWebhookChannel({ url: receiver.url, secrets: [SECRET, OLD_SECRET], clock });
  await channel.tell(buildNotice(), signal);
  const [message] = receiver.received;
  expect(message?.headers).toMatchObject({
    "content-type": "application/json",
    "webhook-id": "msg_1",
    "webhook-timestamp": "1800000000",
  });
  const signatures = String(message?.headers["webhook-signature"]).split(" ");
  expect(signatures).toHaveLength(2);
  for (const [i, secret] of [SECRET, OLD_SECRET].entries()) {
    const key = Buffer.from(secret.slice(6), "base64");
    const expected = createHmac("sha256", key).update(`msg_1.1800000000.${message?.body}`).digest();
    const found = Buffer.from(String(signatures[i]).replace("v1,", ""), "base64");
    expect(timingSafeEqual(found, expected)).toBe(true);
  }
});

test("the body says what happened as data, without results, payloads and rights", async () => {
  const receiver = await receive();
  const channel = createWebhookChannel({ url: receiver.url, secrets: [SECRET] });
  const { about } = buildNotice();
  const decision = {
    confirmed: true,
    by: { id: "boss", kind: "token", authenticated: true },
    via: "api",
    at: "2026-01-01T00:00:00.000Z",
    reason: "fine",
    payload: { filled: "in" },
  } as const;
  const decided = {
    ...about,
    status: "succeeded",
    decision,
    votes: [{ ...decision, requirement: 0 }],
    result: { balance: 1 },
  } as const;
  await channel.tell(buildNotice({ type: "confirmation.decided", about: decided }), signal);
  const body = JSON.parse(receiver.received[0]?.body ?? "") as { data: object };
  expect(body).toMatchObject({
    type: "confirmation.decided",
    timestamp: "2026-01-01T00:00:00.000Z",
    sequence: 7,
    data: {
      id: "adk-1",
      status: "succeeded",
      hint: "Pay <b>bob</b>?",
      args: { to: "bob", pin: "[redacted]" },
      decision: { confirmed: true, by: { id: "boss" }, reason: "fine" },
      url: "https://approvals.example/#/confirmations/adk-1",
    },
  });
  expect(body.data).not.toHaveProperty("can");
  expect(body.data).not.toHaveProperty("result");
  expect(body.data).not.toHaveProperty("decision.payload");
  expect(JSON.stringify(body)).not.toContain("filled");
});

test("a test message is signed, and says nothing of anything", async () => {
  const receiver = await receive();
  const channel = createWebhookChannel({ url: receiver.url, secrets: [SECRET] });
  expect(await channel.sendTest?.(signal)).toEqual({ ok: true });
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({ type: "channel.test", data: {} });
  expect(receiver.received[0]?.headers["webhook-signature"]).toMatch(/^v1,/);
});

test("a redirect is not followed", async () => {
  const receiver = await receive();
  receiver.answer = status(307, { location: `${receiver.url}/elsewhere` });
  const told = await createWebhookChannel({ url: receiver.url, secrets: [SECRET] }).tell(
    buildNotice(),
    signal,
  );
  expect(told).toEqual({ ok: false, reason: `${receiver.url} answered 307.` });
  expect(receiver.received).toHaveLength(1);
});

test("an address that is gone ends it for the message", async () => {
  const receiver = await receive();
  receiver.answer = status(410);
  const told = await createWebhookChannel({ url: receiver.url, secrets: [SECRET] }).tell(
    buildNotice(),
    signal,
  );
  expect(told).toMatchObject({ ok: false, final: true });
});

test.each(["ftp://example.com", "file:///etc/passwd", "example.com", "", "https://user:pw@example.com/"])(
  "the address %j is refused",
  (url) => {
    const create = (): unknown => createWebhookChannel({ url, secrets: [SECRET] });
    expect(create).toThrow(expect.objectContaining({ code: "invalid-option" }));
    expect(create).not.toThrow(/pw|passwd/);
  },
);

test("without a secret there is no channel", () => {
  expect(() => createWebhookChannel({ url: "https://example.com", secrets: [] })).toThrow(
    expect.objectContaining({ code: "invalid-option" }),
  );
});
