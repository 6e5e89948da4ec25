import { describe, expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { SlackStandIn, WORKSPACE } from "../../../test/support/slack/slack-stand-in.ts";
import type { Confirmation, Ledger } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice, type ChannelSubject, channelContract } from "../channel.contract.ts";
import type { Channel, Notice } from "../channel.ts";
import { isFromSlack, signSlack } from "./signature.ts";
import { createSlackChannel, type SlackOptions } from "./slack-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();

async function startSlack(
  over: Partial<SlackOptions> = { room: WORKSPACE.room },
): Promise<{ readonly slack: SlackStandIn; readonly channel: Channel; readonly ledger: Ledger }> {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const { token, signingSecret, team, app } = WORKSPACE;
  const settings = { token, signingSecret, team, app, people: [], apiUrl: slack.url, ledger };
  return { slack, channel: createSlackChannel({ ...settings, ...over }), ledger };
}

async function createSubject(): Promise<ChannelSubject> {
  const { slack, channel } = await startSlack();
  return {
    channel,
    readsAnswers: true,
    secrets: [WORKSPACE.token, WORKSPACE.signingSecret],
    arrived: () =>
      slack.calls
        .filter(({ method, args }) => method.startsWith("chat.") && args["thread_ts"] === undefined)
        .map(({ args }) => ({ id: noticeOf(args["metadata"]), text: JSON.stringify(args) })),
    found: () => slack.in(WORKSPACE.room).length,
    async play(play) {
      if (play.kind === "absent") return slack.close();
      await slack.listen();
      slack.play = play;
    },
  };
}

function noticeOf(metadata: unknown): string {
  return (metadata as { event_payload: { notice: string } }).event_payload.notice;
}

describe("Slack keeps the channel's contract", () => {
  test.each(channelContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

test("a signature is the one in Slack's documentation", () => {
  const body = new TextEncoder().encode(
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
      "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
  );
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  const signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
  expect(signSlack(secret, "1531420618", body)).toBe(signature);
  const headers = new Headers({ "x-slack-request-timestamp": "1531420618", "x-slack-signature": signature });
  const now = 1_531_420_618_000;
  for (const skew of [0, 300_000, -300_000])
    expect(isFromSlack({ headers, body }, secret, now + skew)).toBe(true);
  for (const skew of [301_000, -301_000])
    expect(isFromSlack({ headers, body }, secret, now + skew)).toBe(false);
  expect(isFromSlack({ headers, body: body.slice(1) }, secret, now)).toBe(false);
  expect(isFromSlack({ headers, body }, "another secret", now)).toBe(false);
});

test("exactly the people whom the rule asks are asked, each in a conversation of their own", async () => {
  const people = [
    { id: "ana", slack: "U0ANA" },
    { id: "bob", slack: "U0BOB", roles: ["manager"] },
    { id: "meg", slack: "U0MEG", roles: ["manager"] },
  ];
  const { slack, channel } = await startSlack({ people });
  const { about } = buildNotice();
  const asks = {
    ...about,
    requesters: ["bob"],
    requirements: [{ from: { roles: ["manager"], notRequester: true }, count: 1 }],
  };
  expect(await channel.tell(buildNotice({ about: asks }), signal)).toEqual({ ok: true });
  expect(slack.messages.map(({ channel: place }) => place)).toEqual(["D0MEG"]);
});

test("a reminder and an escalation are a reply under each card, once; whoever has no card gets one first", async () => {
  const people = [
    { id: "ana", slack: "U0ANA" },
    { id: "meg", slack: "U0MEG", roles: ["boss"] },
  ];
  const { slack, channel } = await startSlack({ people });
  const { about } = buildNotice();
  const escalations: Confirmation["escalations"] = [
    { at: "2026-01-01T01:00:00.000Z", to: { roles: ["boss"] }, fills: [0], reached: true },
  ];
  const escalated = { ...about, escalations };
  const denied = { ...escalated, status: "denied" } as const;
  const tellTwice = async (...[over]: Parameters<typeof buildNotice>): Promise<void> => {
    for (let times = 0; times < 2; times += 1)
      expect(await channel.tell(buildNotice(over), signal)).toEqual({ ok: true });
  };
  await tellTwice();
  await tellTwice({ id: "msg_2", type: "confirmation.reminded" });
  const before = slack.calls.length;
  await tellTwice({ id: "msg_3", type: "confirmation.escalated", about: escalated });
  const methods = slack.calls.slice(before).map(({ method }) => method);
  expect(methods.indexOf("conversations.open")).toBeLessThan(methods.indexOf("chat.update"));
  await tellTwice({ id: "msg_4", type: "confirmation.decided", about: denied });
  // Too late: it is over.
  await tellTwice({ id: "msg_5", type: "confirmation.reminded", about: denied });
  const [card] = slack.in("D0ANA");
  expect(slack.messages.map(({ channel: place, thread_ts: thread, text }) => [place, thread, text])).toEqual([
    ["D0ANA", undefined, "A question was closed."],
    ["D0ANA", card?.ts, "A reminder: this call still waits for a decision."],
    ["D0MEG", undefined, "A question was closed."],
    ["D0ANA", card?.ts, "This call still waits for a decision. More people have been asked now."],
  ]);
});

test("an unknown outcome is a reply under the card only while it is unknown", async () => {
  const { slack, channel } = await startSlack();
  const replies = (): readonly string[] => slack.messages.slice(1).map(({ text }) => text);
  await channel.tell(buildNotice(), signal);
  const tell = async (id: string, status: "unknown" | "succeeded"): Promise<void> => {
    const about = { ...buildNotice().about, status };
    expect(await channel.tell(buildNotice({ id, type: "call.unknown", about }), signal)).toEqual({
      ok: true,
    });
  };
  await tell("msg_2", "succeeded");
  expect(replies()).toEqual([]);
  await tell("msg_3", "unknown");
  expect(replies()).toEqual([
    "The outcome of this call is unknown. Somebody must find out and settle it in the inbox.",
  ]);
});

test("whoever is no longer configured gets no reminder, and their card is kept current", async () => {
  const [ana, bob] = [
    { id: "ana", slack: "U0ANA" },
    { id: "ana", slack: "U0BOB" },
  ] as const;
  const { slack, channel, ledger } = await startSlack({ people: [ana, bob] });
  await channel.tell(buildNotice(), signal);
  const { token, signingSecret, team, app } = WORKSPACE;
  const settings = { token, signingSecret, team, app, apiUrl: slack.url, ledger };
  const later = createSlackChannel({ ...settings, people: [ana] });
  const reminder = buildNotice({ id: "msg_2", type: "confirmation.reminded" });
  expect(await later.tell(reminder, signal)).toEqual({ ok: true });
  const updated = slack.calls.filter(({ method }) => method === "chat.update");
  expect(updated.map(({ args }) => String(args["channel"])).toSorted()).toEqual(["D0ANA", "D0BOB"]);
  expect(slack.messages.slice(2).map(({ channel: place }) => place)).toEqual(["D0ANA"]);
});

/** A question to these people. */
function asking(...users: readonly string[]): Notice["about"] {
  const requirements = [{ from: { users }, count: 1, approved: 0 }];
  return Object.assign(buildNotice().about, { requirements });
}

test("whoever is no longer an approver gets no reminder, and their card is kept current", async () => {
  const people = [
    { id: "ana", slack: "U0ANA" },
    { id: "bob", slack: "U0BOB" },
  ];
  const { slack, channel } = await startSlack({ people });
  await channel.tell(buildNotice({ about: asking("ana", "bob") }), signal);
  const reminder = { id: "msg_2", type: "confirmation.reminded", about: asking("bob") } as const;
  expect(await channel.tell(buildNotice(reminder), signal)).toEqual({ ok: true });
  const updated = slack.calls.filter(({ method }) => method === "chat.update");
  expect(updated.map(({ args }) => String(args["channel"])).toSorted()).toEqual(["D0ANA", "D0BOB"]);
  expect(slack.messages.slice(2).map(({ channel: place }) => place)).toEqual(["D0BOB"]);
});

test("after the signal nothing is begun", async () => {
  const { slack, channel, ledger } = await startSlack();
  expect(await channel.tell(buildNotice(), AbortSignal.abort())).toMatchObject({ ok: false });
  const { items } = await ledger.items.list("channel-messages");
  expect(items.map(({ value }) => value)).toMatchObject([{ to: {} }]);
  expect(JSON.stringify(items)).not.toContain(WORKSPACE.room);
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(slack.calls.map(({ method }) => method)).toEqual(["chat.postMessage"]);
});

test("one person who cannot be reached does not keep the others from being told, and is named", async () => {
  const people = ["U0GONE", "U0ANA"].map((slack) => ({ id: "ana", slack }));
  const { slack, channel } = await startSlack({ people });
  const told = await channel.tell(buildNotice(), signal);
  expect(told).toEqual({
    ok: false,
    final: true,
    reason: "Slack answered conversations.open with user_not_found.",
  });
  expect(slack.messages.map(({ channel: place }) => place)).toEqual(["D0ANA"]);
});

test("a message of another app is not taken for a card that may have arrived", async () => {
  // The stand-in's messages are all of the first app.
  const { slack, channel } = await startSlack({ room: WORKSPACE.room, app: "A0002" });
  slack.play = { kind: "hang up" };
  expect(await channel.tell(buildNotice(), signal)).toMatchObject({ ok: false });
  slack.play = { kind: "accept" };
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(slack.in(WORKSPACE.room)).toHaveLength(2);
});

test("a dead token is retried, and found by the check", async () => {
  const { slack, channel } = await startSlack();
  expect(await channel.check?.(signal)).toEqual([]);
  slack.tokens = new Set();
  expect(await channel.tell(buildNotice(), signal)).toEqual({
    ok: false,
    reason: "Slack answered chat.postMessage with invalid_auth.",
  });
  expect(await channel.check?.(signal)).toEqual([
    "Slack answered auth.test with invalid_auth. The token is revoked, expired or wrong: install the app again.",
  ]);
});

test("the check names another workspace, missing scopes and people who are not there", async () => {
  const people = [{ id: "ana", slack: "U0GONE" }];
  const { slack, channel } = await startSlack({ people, team: "T0002" });
  slack.scopes = "chat:write";
  expect(await channel.check?.(signal)).toEqual([
    "The token belongs to a workspace other than T0002.",
    "The token lacks the scopes im:write, im:history: install the app again.",
    "ana cannot be reached as U0GONE: Slack answered conversations.open with user_not_found.",
  ]);
});

test("with a room, the check requires a scope to read it, whichever kind of room it is", async () => {
  const { slack, channel } = await startSlack();
  const scopes = "chat:write,im:write,im:history";
  slack.scopes = scopes;
  expect(await channel.check?.(signal)).toEqual([
    "The token lacks the scopes channels:history or groups:history: install the app again.",
  ]);
  for (const scope of ["channels:history", "groups:history"]) {
    slack.scopes = `${scopes},${scope}`;
    expect(await channel.check?.(signal)).toEqual([]);
  }
});

test("an address that Slack has not confirmed gets no card, the others do, and the operator is told", async () => {
  const addresses = ["meg@example.com", "gone@example.com", "Bob@example.com", "ana@example.com"];
  const { slack, channel, ledger } = await startSlack({
    people: addresses.map((address) => ({ id: "ana", slack: address })),
  });
  slack.oddities.set("U0MEG", { is_email_confirmed: false });
  const told = await channel.tell(buildNotice(), signal);
  const unconfirmed = "Slack has no full member of the workspace with exactly this confirmed address.";
  expect(told).toMatchObject({ ok: false, final: true });
  expect(told.ok ? "" : told.reason).toContain(unconfirmed);
  expect(told.ok ? "" : told.reason).toContain("users.lookupByEmail with users_not_found");
  expect(slack.messages.map(({ channel: place }) => place)).toEqual(["D0ANA"]);
  const { items } = await ledger.items.list("channel-messages");
  const [{ to, failed }] = items.map(({ value }) => value) as [{ to: object; failed: object }];
  expect([Object.keys(to), Object.keys(failed)]).toEqual([["ana@example.com"], addresses.slice(0, 3)]);
  const found = await channel.check?.(signal);
  expect(found).toHaveLength(3);
  for (const [place, address] of addresses.slice(0, 3).entries())
    expect(found?.[place]).toContain(`ana cannot be reached as ${address}: Slack`);
  const tested = await channel.sendTest?.(signal);
  expect(tested).toMatchObject({ ok: false, final: true });
  expect(slack.in("D0ANA")).toHaveLength(2);
});

test("where Slack cannot be asked for an address, the card is sent later, once", async () => {
  const { slack, channel } = await startSlack({ people: [{ id: "ana", slack: "ana@example.com" }] });
  slack.plays.set("users.lookupByEmail", { kind: "busy", waitMs: 7_000 });
  expect(await channel.tell(buildNotice(), signal)).toMatchObject({ ok: false, retryAfterMs: 7_000 });
  slack.plays.clear();
  for (let times = 0; times < 2; times += 1)
    expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  const reminder = buildNotice({ id: "msg_2", type: "confirmation.reminded" });
  expect(await channel.tell(reminder, signal)).toEqual({ ok: true });
  expect(slack.messages.map(({ channel: place }) => place)).toEqual(["D0ANA", "D0ANA"]);
});

test("a test card can be for one person", async () => {
  const people = [
    { id: "ana", slack: "U0ANA" },
    { id: "meg", slack: "U0MEG" },
  ];
  const { slack, channel } = await startSlack({ people, room: WORKSPACE.room });
  expect(await channel.sendTest?.(signal, "meg")).toEqual({ ok: true });
  expect(slack.messages.map(({ channel: place }) => place)).toEqual(["D0MEG"]);
  expect(await channel.sendTest?.(signal, "zoe")).toMatchObject({ ok: false });
});

test("a test card asks for nothing", async () => {
  const { slack, channel } = await startSlack({
    room: WORKSPACE.room,
    people: [{ id: "ana", slack: "U0ANA" }],
  });
  expect(await channel.sendTest?.(signal)).toEqual({ ok: true });
  expect(slack.messages.map(({ channel: place }) => place)).toEqual([WORKSPACE.room, "D0ANA"]);
  expect(JSON.stringify(slack.messages)).not.toContain("button");
});

test.each([
  ["token", { token: "secret" }],
  ["signingSecret", { signingSecret: "" }],
  ["team", { team: "example" }],
  ["app", { app: "" }],
  ["room", { room: "#general" }],
  ["people", { people: [{ id: "ana", slack: "ana" }] }],
  ["people", { people: [1, 2].map(() => ({ id: "ana", slack: "U0ANA" })) }],
  ["people", { people: ["ana@a.example", "ana@A.EXAMPLE"].map((slack) => ({ id: "ana", slack })) }],
  ["people", { people: [{ id: "ana", slack: "ana@\u212Aite.example" }] }],
  ["people", { people: [{ id: "ana", slack: "\u0430na@a.example" }] }],
  ["people", { people: [{ id: "ana", slack: "ana@a.example,bob@a.example" }] }],
  ["people", { people: [{ id: "ana", slack: "a b@a.example" }] }],
  ["apiUrl", { apiUrl: "http://169.254.169.254/" }],
])("a wrong %s is refused and not repeated", async (field, over) => {
  const refused = startSlack(over);
  await expect(refused).rejects.toMatchObject({ code: "invalid-option", details: { field } });
  await expect(refused).rejects.not.toThrow(/secret-|169/);
});
