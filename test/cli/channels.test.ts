import { expect, test } from "vitest";
import { createPushChannel } from "../../src/channels/push/index.ts";
import { parseWebhookSecret, signWebhook, webhookSecrets } from "../../src/channels/webhook/index.ts";
import { status, WebhookReceiver } from "../support/http/webhook-receiver.ts";
import { MailServer } from "../support/mail/mail-server.ts";
import { makeFolder } from "../support/processes/command-line.ts";
import { createDevice } from "../support/push/device.ts";
import { useResources } from "../support/resources.ts";
import {
  pressPayload,
  type SlackMessage,
  SlackStandIn,
  signedRequest,
  WORKSPACE,
} from "../support/slack/slack-stand-in.ts";

const resources = useResources();
const ENV = {
  COUNTERSIGN_SLACK_TOKEN: WORKSPACE.token,
  COUNTERSIGN_SLACK_SIGNING_SECRET: WORKSPACE.signingSecret,
};

async function startSlack(): Promise<{ readonly slack: SlackStandIn; readonly file: string }> {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  const { team, app } = WORKSPACE;
  const people = [{ id: "ana", slack: "U0ANA" }, { id: "nobody" }];
  return { slack, file: JSON.stringify({ people, slack: { team, app, api: slack.url } }) };
}

test("channels test sends a harmless card, and says what is wrong", async () => {
  const { slack, file } = await startSlack();
  const folder = makeFolder();
  folder.write("channels.json", file);
  const args = ["channels", "test", "--channels", "channels.json"];
  const sent = await folder.start(args, ENV).ended();
  expect(sent).toMatchObject({ code: 0, printed: "ok  slack\n" });
  expect(slack.messages).toMatchObject([{ channel: "D0ANA", text: "This is a test." }]);
  slack.tokens = new Set();
  const refused = await folder.start(args, ENV).ended();
  expect(refused.code).toBe(1);
  expect(refused.printed).toContain("invalid_auth");
  expect(refused.printed).not.toContain(WORKSPACE.token);
  const doctor = await folder.start(["doctor", "--channels", "channels.json"], ENV).ended();
  expect(doctor.printed).toMatch(/^fail +slack .*invalid_auth/m);
});

test("a served question is approved in Slack", async () => {
  const { slack, file } = await startSlack();
  const folder = makeFolder();
  folder.write("channels.json", file);
  const id = await folder.withEngine(async (engine) => {
    await engine.ledger.outbox.channelPlace("slack");
    const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
    const asked = await wipe({ disk: 1 }, { key: "disk-1", by: { id: "ana" } });
    return asked.status === "pending" ? asked.confirmation.id : "";
  });
  const options = ["--inbox-only", "--port", "0", "--channels", "channels.json", "--json"];
  const server = folder.start(["serve", ...options], ENV);
  resources.add(() => server.signal("SIGKILL"));
  const [, url = ""] = /"url":"([^"]+)"/.exec(await server.until(/"url":"[^"]+"/)) ?? [];
  while (!slack.calls.some(({ method }) => method === "chat.postMessage"))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const [card] = slack.messages;
  if (card === undefined) throw new Error("There is no card.");
  const { headers, body } = await readRequest(
    signedRequest(pressPayload(card, { user: "U0ANA", action: "approve" })),
  );
  const press = async (): Promise<number> =>
    (await fetch(`${url}/channels/slack/interactions`, { method: "POST", headers, body })).status;
  expect(await press()).toBe(200);
  await folder.withEngine(async (engine) => {
    // The card may be pressed before the server knows that it arrived.
    while ((await engine.confirmation(id)).status === "requested") await press();
    expect((await engine.confirmation(id)).decision).toMatchObject({
      by: { id: "ana", kind: "channel" },
      via: "slack",
    });
  });
  server.signal("SIGTERM");
  await server.ended();
});

test("of presses that reach two processes at once, one decides each question", async () => {
  const { slack, file } = await startSlack();
  const folder = makeFolder();
  folder.write("channels.json", file);
  const ids = await folder.withEngine(async (engine) => {
    await engine.ledger.outbox.channelPlace("slack");
    const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
    const asked = [1, 2, 3, 4, 5].map((disk) => wipe({ disk }, { key: `disk-${disk}`, by: { id: "ana" } }));
    const all = await Promise.all(asked);
    return all.flatMap((each) => (each.status === "pending" ? [each.confirmation.id] : []));
  });
  const options = ["--inbox-only", "--port", "0", "--channels", "channels.json", "--json"];
  const servers = [0, 1].map(() => folder.start(["serve", ...options], ENV));
  for (const server of servers) resources.add(() => server.signal("SIGKILL"));
  const urls = await Promise.all(
    servers.map(async (server) => /"url":"([^"]+)"/.exec(await server.until(/"url":"[^"]+"/))?.[1] ?? ""),
  );
  while (slack.messages.length < ids.length) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(slack.messages).toHaveLength(ids.length);
  await folder.withEngine(async (engine) => {
    for (const id of ids) {
      const card = slack.messages.find(({ blocks }) => JSON.stringify(blocks).includes(id));
      if (card === undefined) throw new Error("There is no card.");
      // The card may be pressed before the servers know that it arrived.
      do
        expect(new Set(await Promise.all(urls.map((url) => pressApprove(url, card))))).toEqual(
          new Set([200]),
        );
      while ((await engine.confirmation(id)).status === "requested");
    }
    const records = await engine.ledger.journal.records({ after: 0, limit: 1_000 });
    expect(records.filter(({ kind }) => kind === "confirmation-approved")).toHaveLength(ids.length);
    expect(slack.messages).toHaveLength(ids.length);
  });
});

/** Ana approves, by a press of its own. */
async function pressApprove(url: string, card: SlackMessage): Promise<number> {
  const { headers, body } = await readRequest(
    signedRequest(pressPayload(card, { user: "U0ANA", action: "approve" })),
  );
  return (await fetch(`${url}/channels/slack/interactions`, { method: "POST", headers, body })).status;
}

async function readRequest(request: Request): Promise<{ readonly headers: Headers; readonly body: string }> {
  return { headers: request.headers, body: await request.text() };
}

test("mails are sent with the server in the environment", async () => {
  const mail = await new MailServer().listen();
  resources.add(() => mail.close());
  const folder = makeFolder();
  const people = [{ id: "ana", email: "ana@example.com" }];
  folder.write("channels.json", JSON.stringify({ people, email: { from: "approvals@example.com" } }));
  const args = ["channels", "test", "--channels", "channels.json"];
  const sent = await folder.start(args, { COUNTERSIGN_SMTP_URL: mail.url }).ended();
  expect(sent).toMatchObject({ code: 0, printed: "ok  email\n" });
  expect(mail.received.map(({ to }) => to)).toEqual([["ana@example.com"]]);
  const wrong = mail.url.replace("mailer", "nobody");
  const refused = await folder.start(args, { COUNTERSIGN_SMTP_URL: wrong }).ended();
  expect(refused.printed).toContain("535 (EAUTH)");
  expect(refused.printed).not.toContain("pass");
});

test("the webhook gets a test message with the signature that its receiver expects; without a secret, why it was refused is told", async () => {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const folder = makeFolder();
  const args = ["channels", "test", "--webhook", receiver.url];
  receiver.answer = status(401);
  const refused = await folder.start(args).ended();
  expect(refused.code).toBe(1);
  expect(refused.printed.replace(/\s+/g, " ")).toMatch(/answered 401.*COUNTERSIGN_WEBHOOK_SECRET/);
  // The secret that `serve` would make and keep.
  const { secrets } = await folder.withEngine(({ ledger }) => webhookSecrets(ledger));
  receiver.answer = (response, { headers, body }) => {
    const id = String(headers["webhook-id"]);
    const timestamp = Number(headers["webhook-timestamp"]);
    const expected = signWebhook({ id, timestamp, body }, secrets.map(parseWebhookSecret));
    response.writeHead(headers["webhook-signature"] === expected ? 204 : 401).end();
  };
  expect(await folder.start(args).ended()).toMatchObject({ code: 0, printed: "ok  webhook\n" });
});

test("a room and a device get a test message, and what is wrong with each is named", async () => {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const folder = makeFolder();
  const push = { contact: "mailto:ops@example.com", services: [receiver.url] };
  const rooms = [{ name: "ops", template: "teams", secret: "TEAMS_URL" }];
  folder.write("channels.json", JSON.stringify({ people: [], rooms, push }));
  const args = ["channels", "test", "--channels", "channels.json"];
  const env = { TEAMS_URL: `${receiver.url}/t0ken` };
  const device = createDevice(`${receiver.url}/device`);
  await folder.withEngine(async ({ ledger }) => {
    const body = Buffer.from(JSON.stringify(device.subscription));
    const ana = { id: "ana", kind: "oidc", roles: [], scopes: ["decide"], authenticated: true } as const;
    const { routes } = createPushChannel({ ...push, ledger });
    await routes?.["subscriptions"]?.({ method: "PUT", headers: new Headers(), body }, ana);
  });
  expect(await folder.start(args, env).ended()).toMatchObject({ code: 0, printed: "ok  ops\nok  push\n" });
  const sent = receiver.received.find(({ path }) => path === "/device");
  expect(JSON.parse(device.read(sent?.bytes ?? Buffer.alloc(0)))).toMatchObject({ is: "test" });
  receiver.answer = status(410);
  const refused = await folder.start(args, env).ended();
  expect(refused.code).toBe(1);
  expect(refused.printed).toMatch(
    /failed {2}ops\n[^]*answered 410[^]*failed {2}push\n[^]*A device of ana is gone/,
  );
  expect(refused.printed).not.toContain("t0ken");
});

test.each([
  ["no JSON", "{", /is not JSON/],
  ["no channel", "{}", /names no channel/],
  ["a word that is spelled wrong", '{"slack":{},"peoples":[]}', /Unknown member "peoples"/],
  ["a person without an id", '{"slack":{},"people":[{"slack":"U0ANA"}]}', /needs an `id`/],
  [
    "a room of an unknown kind",
    '{"rooms":[{"name":"a","template":"x","secret":"COUNTERSIGN_SLACK_TOKEN"}]}',
    /must be teams, discord/,
  ],
  [
    "an address that is not its secret",
    '{"rooms":[{"name":"a","template":"teams","secret":"COUNTERSIGN_SLACK_TOKEN","url":"https://a.example"}]}',
    /Unknown member "url"/,
  ],
  ["a room without a secret", '{"rooms":[{"name":"a","template":"teams"}]}', /needs `secret`/],
  [
    "a room whose secret is not set",
    '{"rooms":[{"name":"a","template":"teams","secret":"NOT_SET"}]}',
    /Set NOT_SET/,
  ],
  ["an export to nowhere", '{"siem":{}}', /needs either `file` or `url`/],
  ["an export in an unknown format", '{"siem":{"file":"a","format":"cef"}}', /must be plain or ocsf/],
  ["no workspace", '{"slack":{"app":"A0001"}}', /`team` must be the workspace's id/],
])("a channels file with %s is refused", (_what, text, message) => {
  const folder = makeFolder();
  folder.write("channels.json", text);
  const { code, stderr } = folder.run(["channels", "test", "--channels", "channels.json"], ENV);
  expect(code).not.toBe(0);
  expect(stderr.replace(/\s+/g, " ")).toMatch(message);
});

test("the file of an export gets a test line, and a folder that is missing is named", () => {
  const folder = makeFolder();
  folder.write("channels.json", '{"siem":{"file":"journal.jsonl"}}');
  const args = ["channels", "test", "--channels", "channels.json"];
  expect(folder.run(args)).toMatchObject({ code: 0, stdout: "ok  siem\n" });
  folder.write("channels.json", '{"siem":{"file":"missing/journal.jsonl"}}');
  const { code, stdout } = folder.run(args);
  expect(code).not.toBe(0);
  expect(stdout).toContain("ENOENT");
});

test("secrets come from the environment only", async () => {
  const { file } = await startSlack();
  const folder = makeFolder();
  folder.write("channels.json", file);
  const { stderr } = folder.run(["channels", "test", "--channels", "channels.json"]);
  expect(stderr).toContain("COUNTERSIGN_SLACK_TOKEN");
});
