import { describe, expect, test, vi } from "vitest";
import { playRecipient } from "../../../test/support/http/recipient-play.ts";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { createDevice, type Device } from "../../../test/support/push/device.ts";
import { useResources } from "../../../test/support/resources.ts";
import { type Confirmation, type Ledger, ManualClock, type Principal } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice, type ChannelSubject, channelContract } from "../channel.contract.ts";
import type { Channel } from "../channel.ts";
import { createPushChannel } from "./push-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const CONTACT = "mailto:ops@example.com";
const SIXTY_DAYS_MS = 60 * 24 * 3_600_000;

function person(id: string, over: Partial<Principal> = {}): Principal {
  return { id, kind: "oidc", roles: [], scopes: ["decide"], authenticated: true, ...over };
}

interface Scene {
  readonly receiver: WebhookReceiver;
  readonly channel: Channel;
  readonly ledger: Ledger;
  readonly clock: ManualClock;
  /** Turns it on, on a device of this person. */
  readonly join: (who: Principal, path: string) => Promise<Device>;
  /** What arrived at each path, as its device reads it. */
  readonly arrived: () => readonly (readonly [
    path: string,
    message: { readonly [member: string]: string },
  ])[];
}

async function startScene(): Promise<Scene> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  const services = [receiver.url];
  const channel = createPushChannel({ ledger, contact: CONTACT, operator: "ana", services });
  const devices = new Map<string, Device>();
  return {
    receiver,
    channel,
    ledger,
    clock,
    async join(who, path) {
      const device = createDevice(`${receiver.url}${path}`);
      devices.set(path, device);
      const { status: code } = await ask(channel, "PUT", { who, body: device.subscription });
      expect(code).toBe(204);
      return device;
    },
    arrived: () =>
      receiver.received.map(({ path, bytes }) => {
        const text = devices.get(path)?.read(bytes) ?? "{}";
        return [path, JSON.parse(text) as { readonly [member: string]: string }] as const;
      }),
  };
}

interface Asking {
  readonly who: Principal;
  readonly body?: unknown;
}

async function ask(
  channel: Channel,
  method: string,
  { who, body }: Asking,
): Promise<{ readonly status: number }> {
  const request = { method, headers: new Headers(), body: Buffer.from(JSON.stringify(body) ?? "") };
  const served = channel.routes?.["subscriptions"]?.(request, who);
  if (served === undefined) throw new Error("There is no route.");
  return served;
}

async function createSubject(): Promise<ChannelSubject> {
  const { receiver, channel, join, arrived } = await startScene();
  await join(person("ana"), "/t0ken");
  const messages = (): readonly { readonly id: string; readonly text: string }[] =>
    arrived().map(([, message]) => ({ id: message["notice"] ?? "", text: JSON.stringify(message) }));
  return {
    channel,
    sendsOnlyIds: true,
    namesNoTime: true,
    secrets: ["t0ken"],
    arrived: messages,
    found: () => new Set(messages().map(({ id }) => id)).size,
    play: (play) => playRecipient(receiver, play, 201),
  };
}

describe("push keeps the channel's contract", () => {
  test.each(channelContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

function asking(over: Partial<Confirmation>): Confirmation {
  const { about } = buildNotice();
  if (!("id" in about)) throw new Error("It is a confirmation.");
  return { ...about, ...over };
}

test("exactly the devices of those whom the rule asks are told, and told again when it is decided", async () => {
  const { channel, join, arrived } = await startScene();
  await join(person("meg", { roles: ["boss"] }), "/meg-phone");
  await join(person("meg", { roles: ["boss"] }), "/meg-desk");
  await join(person("bob"), "/bob");
  await join(person("ana"), "/ana");
  const open = asking({ requirements: [{ from: { roles: ["boss"] }, count: 1, approved: 0 }] });
  await channel.tell(buildNotice({ about: open }), signal);
  await channel.tell(
    buildNotice({ id: "msg_2", type: "confirmation.decided", about: { ...open, status: "approved" } }),
    signal,
  );
  expect(arrived().toSorted(([one], [other]) => one.localeCompare(other))).toEqual([
    ["/meg-desk", { notice: "msg_1", confirmation: "adk-1", is: "requested" }],
    ["/meg-desk", { notice: "msg_2_over", confirmation: "adk-1", is: "over" }],
    ["/meg-phone", { notice: "msg_1", confirmation: "adk-1", is: "requested" }],
    ["/meg-phone", { notice: "msg_2_over", confirmation: "adk-1", is: "over" }],
  ]);
});

test("a question that is decided while it is being sent is taken away", async () => {
  const { channel, receiver, join, arrived } = await startScene();
  await join(person("ana"), "/ana");
  const over = asking({ status: "denied" });
  const decided = buildNotice({ id: "msg_2", type: "confirmation.decided", about: over, revision: 8 });
  let during: Promise<unknown> = Promise.resolve();
  receiver.answer = (response) => {
    receiver.answer = status(201);
    during = channel.tell(decided, signal).then(() => response.writeHead(201).end());
  };
  const told = await channel.tell(buildNotice(), signal);
  await during;
  expect(told).toMatchObject({ ok: false, retryAfterMs: 0 });
  // The outbox tries it again, with what is so by then.
  expect(await channel.tell(buildNotice({ about: over, revision: 8 }), signal)).toEqual({ ok: true });
  expect(arrived().map(([, { is }]) => is)).toEqual(["requested", "over", "over"]);
});

test("whoever is no longer an approver gets no reminder, and the notification goes when it is decided", async () => {
  const { channel, join, arrived } = await startScene();
  await join(person("ana"), "/ana");
  const requirements = [{ from: { users: ["meg"] }, count: 1, approved: 0 }];
  await channel.tell(buildNotice(), signal);
  const about = asking({ requirements });
  await channel.tell(buildNotice({ id: "msg_2", type: "confirmation.reminded", about }), signal);
  const over = asking({ requirements, status: "denied" });
  await channel.tell(buildNotice({ id: "msg_3", type: "confirmation.decided", about: over }), signal);
  expect(arrived().map(([, { is }]) => is)).toEqual(["requested", "over"]);
});

test("a message says nothing of what is asked, in its headers neither", async () => {
  const { channel, receiver, join } = await startScene();
  await join(person("ana"), "/ana");
  await channel.tell(buildNotice({ about: asking({ tool: "wire_money", hint: "Pay 1,000,000?" }) }), signal);
  const [message] = receiver.received;
  const { headers = {}, bytes = new Uint8Array() } = message ?? {};
  const sent = `${JSON.stringify(headers)}${Buffer.from(bytes).toString("latin1")}`;
  for (const word of ["wire_money", "Pay", "adk-1", "ana"]) expect(sent).not.toContain(word);
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "604800", urgency: "high" });
  expect(headers["topic"]).toMatch(/^[\w-]{32}$/);
  expect(headers["authorization"]).toMatch(/^vapid t=.+, k=.+$/);
});

test("a test says which devices cannot be reached, asks for nothing, and can be for one person", async () => {
  const { channel, receiver, join, arrived } = await startScene();
  expect(await channel.sendTest?.(signal)).toMatchObject({
    ok: false,
    reason: expect.stringContaining("Nobody has turned on") as string,
  });
  await join(person("ana"), "/ana");
  await join(person("bob"), "/bob");
  receiver.answer = status(201);
  expect(await channel.sendTest?.(signal)).toEqual({ ok: true });
  expect(
    arrived()
      .map(([path, { is }]) => `${path} ${is}`)
      .toSorted(),
  ).toEqual(["/ana test", "/bob test"]);
  expect(await channel.sendTest?.(signal, "bob")).toEqual({ ok: true });
  expect(
    arrived()
      .slice(2)
      .map(([path]) => path),
  ).toEqual(["/bob"]);
  expect(await channel.sendTest?.(signal, "zoe")).toMatchObject({ ok: false });
  receiver.answer = (response, { path }) => response.writeHead(path === "/ana" ? 403 : 201).end();
  const told = await channel.sendTest?.(signal);
  expect(told).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/A device of ana: .* answered 403/) as string,
  });
});

test.each([404, 410])("a device that is gone (%s) is forgotten, and the others are told", async (code) => {
  const { channel, receiver, join, ledger } = await startScene();
  await join(person("ana"), "/gone");
  await join(person("ana"), "/here");
  receiver.answer = (response, { path }) => response.writeHead(path === "/gone" ? code : 201).end();
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(["/gone", "/here"]);
  expect((await ledger.items.list("push-subscription")).items).toHaveLength(1);
});

test("a service that refuses the message is not asked again, and a redirect is not followed", async () => {
  const { channel, receiver, join } = await startScene();
  await join(person("ana"), "/ana");
  receiver.answer = status(307, { location: `${receiver.url}/elsewhere` });
  expect(await channel.tell(buildNotice(), signal)).toEqual({
    ok: false,
    reason: `${receiver.url} answered 307.`,
    isolated: true,
  });
  receiver.answer = status(403);
  expect(await channel.tell(buildNotice(), signal)).toMatchObject({ ok: false, final: true });
  expect(receiver.received).toHaveLength(2);
});

test("a device that is busy names no time, and nobody else waits for it", async () => {
  const { channel, receiver, join } = await startScene();
  await join(person("ana"), "/ana");
  receiver.answer = status(429, { "retry-after": "999999999" });
  expect(await channel.tell(buildNotice(), signal)).toEqual({
    ok: false,
    reason: `${receiver.url} answered 429.`,
    isolated: true,
  });
});

test("a device that never answers is left after its time, and the others are told meanwhile", async () => {
  const { channel, receiver, join } = await startScene();
  for (const path of ["/silent-1", "/silent-2", "/here"]) await join(person("ana"), path);
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(late.signal);
  resources.add(() => timeout.mockRestore());
  const { promise: allCame, resolve } = Promise.withResolvers<void>();
  receiver.answer = (response, { path }) => {
    if (path === "/here") response.writeHead(201).end();
    if (receiver.received.length === 3) resolve();
  };
  const told = channel.tell(buildNotice(), signal);
  await allCame;
  late.abort();
  expect(await told).toEqual({
    ok: false,
    reason: `${receiver.url} did not answer in time.`,
    isolated: true,
  });
  expect(timeout).toHaveBeenCalledWith(5_000);
});

test("a device belongs to whoever is logged in there, and only they turn it off", async () => {
  const { channel, join, ledger, receiver } = await startScene();
  const device = await join(person("ana"), "/shared");
  const owners = async (): Promise<readonly unknown[]> =>
    (await ledger.items.list("push-subscription")).items.map(({ value }) => JSON.stringify(value));
  await ask(channel, "DELETE", { who: person("bob"), body: device.subscription });
  expect(await owners()).toHaveLength(1);
  await ask(channel, "PUT", { who: person("bob"), body: device.subscription });
  await channel.tell(buildNotice(), signal);
  expect(receiver.received).toEqual([]);
  await ask(channel, "DELETE", { who: person("bob"), body: device.subscription });
  expect(await owners()).toEqual([]);
});

test("whoever has not opened the page for two months is told nothing", async () => {
  const { channel, join, clock, receiver } = await startScene();
  await join(person("ana"), "/ana");
  await clock.advance(SIXTY_DAYS_MS);
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(receiver.received).toEqual([]);
});

test("of very many devices of one person the oldest are forgotten, and of nobody else", async () => {
  const { channel, ledger, clock, join } = await startScene();
  await join(person("bob"), "/bob");
  for (let place = 0; place < 25; place += 1) {
    await clock.advance(1_000);
    await join(person("ana"), `/ana-${place}`);
  }
  const endpoints = (await ledger.items.list("push-subscription")).items.map(({ value }) =>
    JSON.stringify(value),
  );
  expect(endpoints).toHaveLength(21);
  expect(endpoints.some((text) => text.includes("/bob"))).toBe(true);
  expect(endpoints.some((text) => text.includes("/ana-4"))).toBe(false);
  expect(channel.name).toBe("push");
});

test.each([
  "http://push.example/x",
  "https://127.0.0.1/x",
  "https://[::1]/x",
  "https://localhost/x",
  "https://169.254.169.254/latest/meta-data",
  "https://push.example:8443/x",
  "https://user:pw@push.example/x",
  "file:///etc/passwd",
  "",
])("the endpoint %j is refused", async (endpoint) => {
  const { channel, ledger } = await startScene();
  const { keys } = createDevice("").subscription;
  const asked = ask(channel, "PUT", { who: person("ana"), body: { endpoint, keys } });
  await expect(asked).rejects.toMatchObject({ code: "malformed-request" });
  expect((await ledger.items.list("push-subscription")).items).toEqual([]);
});

test("agents, and people without the scope, have no devices; what is no subscription is refused", async () => {
  const { channel } = await startScene();
  const { subscription: body } = createDevice("https://push.example/x");
  for (const who of [person("bot", { kind: "agent" }), person("eve", { scopes: ["read"] })]) {
    await expect(ask(channel, "PUT", { who, body })).rejects.toMatchObject({ code: "forbidden" });
  }
  const who = person("ana");
  for (const odd of [
    undefined,
    [],
    "x",
    {},
    { ...body, keys: {} },
    { ...body, keys: { p256dh: 1, auth: 2 } },
  ]) {
    await expect(ask(channel, "PUT", { who, body: odd })).rejects.toMatchObject({
      code: "malformed-request",
    });
  }
  await expect(ask(channel, "POST", { who, body })).rejects.toMatchObject({ code: "method-not-allowed" });
});

test.each([{ contact: "ops" }, { contact: CONTACT, services: ["https://push.example/path"] }])(
  "wrong settings are refused: %j",
  async (settings) => {
    const ledger = await createLedger("memory:");
    resources.add(() => ledger.close());
    expect(() => createPushChannel({ ledger, ...settings })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  },
);

test("keys that were changed in the ledger keep nobody else from being told", async () => {
  const { channel, ledger, join, arrived } = await startScene();
  await join(person("ana"), "/changed");
  const [item] = (await ledger.items.list("push-subscription")).items;
  if (item === undefined) throw new Error("There is one.");
  const p256dh = Buffer.alloc(65, 4).toString("base64url");
  await ledger.items.put({ ...item, value: { ...(item.value as JsonObject), p256dh } }, item.version);
  await join(person("ana"), "/here");
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(arrived().map(([path]) => path)).toEqual(["/here"]);
  expect((await ledger.items.list("push-subscription")).items).toHaveLength(1);
});
