import { describe, expect, test } from "vitest";
import { MailServer } from "../../../test/support/mail/mail-server.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Confirmation, Ledger } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice, type ChannelSubject, channelContract } from "../channel.contract.ts";
import type { Channel } from "../channel.ts";
import { createEmailChannel, type EmailOptions } from "./email-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const ANA = { id: "ana", email: "ana@example.com" };
const MEG = { id: "meg", email: "meg@example.com", roles: ["boss"] };
const THREE = ["a@example.com", "b@example.com", "c@example.com"];

async function startMail(
  over: Partial<EmailOptions> = {},
): Promise<{ readonly server: MailServer; readonly channel: Channel; readonly ledger: Ledger }> {
  const server = await new MailServer().listen();
  resources.add(() => server.close());
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const from = "Approvals <approvals@example.com>";
  const channel = createEmailChannel({ smtp: server.url, from, people: [ANA], ledger, ...over });
  return { server, channel, ledger };
}

/** To whom, for which notice, and whether it is the first of its thread. */
function mailsIn({ received }: MailServer): readonly string[] {
  return received.map(({ to, headers }) => {
    const place = headers.has("in-reply-to") ? "reply" : "first";
    return [to[0], headers.get("x-countersign-notice")?.[0], place].join(" ");
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

async function createSubject(): Promise<ChannelSubject> {
  const { server, channel } = await startMail({ operator: "ops@example.com" });
  const header = (name: string): readonly string[] =>
    server.received.map(({ headers }) => headers.get(name)?.[0] ?? "");
  return {
    channel,
    readsAnswers: true,
    namesNoTime: true,
    most: 5_000_000,
    secrets: ["pass", "secret-detail"],
    arrived: () =>
      server.received.map(({ parts }, place) => ({
        id: header("x-countersign-notice")[place] ?? "",
        text: parts.join("\n"),
      })),
    found: () => new Set(header("message-id")).size,
    play: (play) => server.set(play),
  };
}

describe("e-mail keeps the channel's contract", () => {
  test.each(channelContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

test("a mail has text and HTML, and later ones are in its thread", async () => {
  const { server, channel } = await startMail();
  await channel.tell(buildNotice(), signal);
  const { about } = buildNotice();
  const decision = {
    confirmed: false,
    by: { id: "bob", kind: "oidc", authenticated: true },
    via: "api",
    at: "2026-01-01T00:00:00.000Z",
    reason: "Too much.",
  } as const;
  const denied = { ...about, status: "denied", decision } as const;
  await channel.tell(buildNotice({ id: "msg_2", type: "confirmation.decided", about: denied }), signal);
  const [first, second] = server.received;
  expect(first?.to).toEqual(["ana@example.com"]);
  expect(first?.headers.get("from")).toEqual(["Approvals <approvals@example.com>"]);
  expect(first?.headers.get("subject")).toEqual(["Approval of transfer"]);
  expect(first?.headers.get("auto-submitted")).toEqual(["auto-generated"]);
  expect(first?.parts[0]).toContain("Open it to decide: https://approvals.example/#/confirmations/adk-1");
  expect(first?.parts[1]).toContain("Pay &lt;b&gt;bob&lt;/b&gt;?");
  expect(second?.headers.get("in-reply-to")).toEqual(first?.headers.get("message-id"));
  expect(second?.headers.get("references")).toEqual(first?.headers.get("message-id"));
  expect(second?.headers.get("subject")).toEqual(["Re: Approval of transfer"]);
  expect(second?.parts[0]).toContain("Denied. The call did not run.");
  expect(second?.parts[0]).toContain("Reason: Too much.");
});

test("exactly those are asked whom the rule asks, and only those hear what became of it", async () => {
  const people = [
    ANA,
    { id: "bob", email: "bob@example.com" },
    { id: "meg", email: "meg@example.com", roles: ["boss"] },
  ];
  const { server, channel } = await startMail({ people });
  const { about } = buildNotice();
  const asks = { ...about, requirements: [{ from: { roles: ["boss"] }, count: 1 }] };
  await channel.tell(buildNotice({ about: asks }), signal);
  await channel.tell(buildNotice({ id: "msg_2", type: "confirmation.expired", about: asks }), signal);
  expect(server.received.map(({ to }) => to)).toEqual([["meg@example.com"], ["meg@example.com"]]);
});

test("an escalation asks those who may decide by now, in threads of their own, and reminders follow there", async () => {
  const { server, channel } = await startMail({ people: [ANA, MEG] });
  const { about } = buildNotice();
  const escalations: Confirmation["escalations"] = [
    { at: "2026-01-01T01:00:00.000Z", to: { roles: ["boss"] }, fills: [0], reached: true },
  ];
  const escalated = { ...about, escalations };
  const denied = { ...escalated, status: "denied" } as const;
  const notices = [
    buildNotice(),
    buildNotice({ id: "msg_2", type: "confirmation.escalated", about: escalated }),
    buildNotice({ id: "msg_3", type: "confirmation.reminded", about: escalated }),
    buildNotice({ id: "msg_4", type: "confirmation.decided", about: denied }),
    // Too late: it is over.
    buildNotice({ id: "msg_5", type: "confirmation.reminded", about: denied }),
  ];
  for (const notice of notices)
    for (let times = 0; times < 2; times += 1)
      expect(await channel.tell(notice, signal)).toEqual({ ok: true });
  expect(mailsIn(server).toSorted()).toEqual([
    "ana@example.com msg_1 first",
    "ana@example.com msg_2 reply",
    "ana@example.com msg_3 reply",
    "ana@example.com msg_4 reply",
    "meg@example.com msg_2 first",
    "meg@example.com msg_3 reply",
    "meg@example.com msg_4 reply",
  ]);
  const megs = server.received.filter(({ to }) => to[0] === MEG.email).map(({ headers }) => headers);
  expect(megs[0]?.get("subject")).toEqual(["Approval of transfer"]);
  expect(megs[1]?.get("in-reply-to")).toEqual(megs[0]?.get("message-id"));
});

test("whoever is no longer an approver gets no reminder, and hears what became of it", async () => {
  const { server, channel } = await startMail({ people: [ANA, MEG] });
  const { about } = buildNotice();
  const both = { ...about, requirements: [{ from: { users: ["ana", "meg"] }, count: 1 }] };
  await channel.tell(buildNotice({ about: both }), signal);
  const left = { ...about, requirements: [{ from: { users: ["meg"] }, count: 1 }] };
  const denied = { ...left, status: "denied" } as const;
  await channel.tell(buildNotice({ id: "msg_2", type: "confirmation.reminded", about: left }), signal);
  await channel.tell(buildNotice({ id: "msg_3", type: "confirmation.decided", about: denied }), signal);
  expect(mailsIn(server).toSorted()).toEqual([
    "ana@example.com msg_1 first",
    "ana@example.com msg_3 reply",
    "meg@example.com msg_1 first",
    "meg@example.com msg_2 reply",
    "meg@example.com msg_3 reply",
  ]);
});

test("a request that arrives after a reminder asks nobody a second time", async () => {
  const { server, channel } = await startMail();
  await channel.tell(buildNotice({ id: "msg_2", type: "confirmation.reminded" }), signal);
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(mailsIn(server)).toEqual(["ana@example.com msg_2 first"]);
});

test("after the signal nothing is begun, and the next attempt sends one mail to each", async () => {
  const people = THREE.map((email) => ({ id: "ana", email }));
  const { server, channel, ledger } = await startMail({ people });
  expect(await channel.tell(buildNotice(), AbortSignal.abort())).toEqual({
    ok: false,
    reason: "There was no time left to send it.",
  });
  expect((await ledger.items.list("channel-messages")).items).toEqual([]);
  expect(server.connections).toBe(0);
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(server.received.map(({ to }) => to[0])).toEqual(THREE);
  expect(server.connections).toBe(3);
});

test("a mailbox without an answer does not keep the others waiting for ever, and they get one mail", async () => {
  const people = THREE.map((email) => ({ id: "ana", email }));
  const { server, channel } = await startMail({ people });
  server.silent = new Set(["a@example.com"]);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const leave = new AbortController();
    const told = channel.tell(buildNotice(), leave.signal);
    await until(() => server.unanswered === attempt);
    leave.abort();
    expect(await told).toMatchObject({ ok: false });
  }
  expect(server.received.map(({ to }) => to[0])).toEqual(["b@example.com", "c@example.com"]);
  server.silent = new Set();
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(server.received.map(({ to }) => to[0])).toEqual(["b@example.com", "c@example.com", "a@example.com"]);
});

test("a first mail that may have arrived stays the first, though another attempt at it is refused", async () => {
  const { server, channel } = await startMail();
  const remind = async (id: string): Promise<boolean> =>
    (await channel.tell(buildNotice({ id, type: "confirmation.reminded" }), signal)).ok;
  await server.set({ kind: "hang up" });
  expect(await remind("msg_2")).toBe(false);
  await server.set({ kind: "fail" });
  expect(await remind("msg_2")).toBe(false);
  await server.set({ kind: "accept" });
  expect(await remind("msg_3")).toBe(true);
  expect(mailsIn(server)).toEqual(["ana@example.com msg_2 first", "ana@example.com msg_3 reply"]);
});

test("a mail that another process is sending does not hold up the channel", async () => {
  const { server, channel } = await startMail();
  await server.set({ kind: "silence" });
  const leave = new AbortController();
  const sending = channel.tell(buildNotice(), leave.signal);
  await until(() => server.received.length === 1);
  const reason = "Another process is sending it.";
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: false, reason, isolated: true });
  leave.abort();
  await sending;
});

test("a mailbox that does not exist is final for it, and the others get theirs once", async () => {
  const people = ["gone@example.com", "ana@example.com"].map((email) => ({ id: "ana", email }));
  const { server, channel } = await startMail({ people });
  server.missing = new Set(["gone@example.com"]);
  const bounced = { ok: false, final: true, reason: "The mail server answered 550 (EENVELOPE)." };
  expect(await channel.tell(buildNotice(), signal)).toEqual(bounced);
  expect(await channel.tell(buildNotice(), signal)).toEqual(bounced);
  expect(server.received.map(({ to }) => to)).toEqual([["ana@example.com"]]);
});

test("no text of a stranger makes a header, a recipient, markup or a line of ours", async () => {
  const { server, channel } = await startMail();
  const evil = "x\r\nBcc: evil@example.com\r\n\r\n<img src=https://evil.example>\u202Egpj";
  const { about } = buildNotice();
  const line = `${evil}\nApproved.\nOpen it to decide: https://evil.example`;
  const hostile = { ...about, tool: evil, hint: line, user: evil, args: { [evil]: line } };
  expect(await channel.tell(buildNotice({ about: hostile }), signal)).toEqual({ ok: true });
  const [mail] = server.received;
  expect(mail?.to).toEqual(["ana@example.com"]);
  expect([...(mail?.headers.keys() ?? [])]).not.toContain("bcc");
  expect(mail?.parts).toHaveLength(2);
  const [text = "", html = ""] = mail?.parts ?? [];
  expect(html).not.toContain("<img");
  expect(`${text}${html}`).not.toContain("\u202E");
  expect(text).not.toMatch(/^Approved\.$/m);
  expect(text).not.toMatch(/^Open it to decide: https:\/\/evil/m);
});

test("a wrong password is found by the check, and tried again", async () => {
  const { server, channel } = await startMail();
  expect(await channel.check?.(signal)).toEqual([]);
  const wrong = await startMail({ smtp: server.url.replace("pass", "word") });
  expect(await wrong.channel.check?.(signal)).toEqual(["The mail server answered 535 (EAUTH)."]);
  const told = await wrong.channel.tell(buildNotice(), signal);
  expect(told).toEqual({ ok: false, reason: "The mail server answered 535 (EAUTH)." });
});

test.each([530, 550, 553])("a sender whom the server refuses (%s) is tried again", async (code) => {
  const { server, channel } = await startMail();
  server.senderRefusal = code;
  expect(await channel.tell(buildNotice(), signal)).toEqual({
    ok: false,
    reason: `The mail server answered ${code} (EENVELOPE).`,
  });
  server.senderRefusal = undefined;
  expect(await channel.tell(buildNotice(), signal)).toEqual({ ok: true });
  expect(server.received).toHaveLength(1);
});

test("a server elsewhere gets nothing over a connection that is not encrypted", async () => {
  const server = await new MailServer().listen("0.0.0.0");
  resources.add(() => server.close());
  // The same machine, under a name that is not one of its own.
  const { channel } = await startMail({ smtp: server.url.replace("127.0.0.1", "127.0.0.2") });
  const told = await channel.tell(buildNotice(), signal);
  expect(told).toEqual({ ok: false, reason: "The mail server answered 500 (ETLS)." });
  expect(server.received).toEqual([]);
});

test("a test mail can be for one person", async () => {
  const { server, channel } = await startMail({ people: [ANA, MEG], operator: "ops@example.com" });
  expect(await channel.sendTest?.(signal, "meg")).toEqual({ ok: true });
  expect(server.received.map(({ to }) => to)).toEqual([["meg@example.com"]]);
  expect(await channel.sendTest?.(signal, "zoe")).toMatchObject({ ok: false });
});

test("a test mail asks for nothing", async () => {
  const { server, channel } = await startMail({ operator: "ops@example.com" });
  expect(await channel.sendTest?.(signal)).toEqual({ ok: true });
  expect(server.received.map(({ to }) => to)).toEqual([["ana@example.com"], ["ops@example.com"]]);
  expect(server.received[0]?.parts[0]).toContain("nothing to decide");
});

test.each([
  ["smtp", { smtp: "https://user:hunter2@example.com" }],
  ["smtp", { smtp: "example.com" }],
  ["smtp", { smtp: "smtps://user:hunter2%@example.com" }],
  ["from", { from: "nobody" }],
  ["from", { from: "A\r\nBcc: b@c.de <a@example.com>" }],
  ["people", { people: [{ id: "ana", email: "a@b.c\r\nRCPT TO:<evil@example.com>" }] }],
  ["people", { people: [ANA, { id: "bob", email: "ANA@example.com" }] }],
  ["operator", { operator: "a@b, c@d" }],
])("a wrong %s is refused and not repeated", async (field, over) => {
  const refused = startMail(over);
  await expect(refused).rejects.toMatchObject({ code: "invalid-option", details: { field } });
  await expect(refused).rejects.not.toThrow(/hunter2/);
});
