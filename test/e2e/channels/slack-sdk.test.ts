import { App, HTTPReceiver } from "@slack/bolt";
import { ErrorCode, WebClient } from "@slack/web-api";
import { expect, test } from "vitest";
import { buildNotice } from "../../../src/channels/channel.contract.ts";
import { cardBlocks, contentOf } from "../../../src/channels/slack/card.ts";
import { useResources } from "../../support/resources.ts";
import {
  pressPayload,
  SlackStandIn,
  signedRequest,
  submitPayload,
  WORKSPACE,
} from "../../support/slack/slack-stand-in.ts";

const resources = useResources();
const TRIGGER = "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3";
const VALUES = { approve: "one", fill: "two", reject: "three" };

async function startSlack(): Promise<{ readonly slack: SlackStandIn; readonly client: WebClient }> {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  const options = { slackApiUrl: slack.url, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true };
  return { slack, client: new WebClient(WORKSPACE.token, options) };
}

/** A card as we send it, sent by the official client. */
async function postCard(client: WebClient): Promise<string> {
  const notice = buildNotice();
  const { channel } = await client.conversations.open({ users: "U0ANA" });
  const posted = await client.apiCall("chat.postMessage", {
    channel: channel?.id ?? "",
    text: "A call waits for your decision.",
    blocks: [...cardBlocks(notice, contentOf(notice.about), VALUES)] as never[],
    metadata: { event_type: "countersign_card", event_payload: { message: "one" } },
  });
  return "ts" in posted ? String(posted.ts) : "";
}

test("the official client takes the stand-in for Slack, with our cards", async () => {
  const { slack, client } = await startSlack();
  expect(await client.auth.test()).toMatchObject({ ok: true, team_id: WORKSPACE.team });
  const ts = await postCard(client);
  const updated = await client.chat.update({ channel: "D0ANA", ts, text: "Done.", blocks: [] });
  expect(updated).toMatchObject({ ok: true, ts });
  const { messages } = await client.conversations.history({ channel: "D0ANA", include_all_metadata: true });
  expect(messages).toMatchObject([{ ts, metadata: { event_payload: { message: "one" } } }]);
  const title = { type: "plain_text", text: "Reject" } as const;
  const opened = await client.views.open({ trigger_id: TRIGGER, view: { type: "modal", title, blocks: [] } });
  expect(opened.view?.id).toBe("V0");
  const lost = client.apiCall("chat.postMessage", { channel: "C0GONE", text: "x" });
  await expect(lost).rejects.toMatchObject({
    code: ErrorCode.PlatformError,
    data: { error: "channel_not_found" },
  });
  slack.play = { kind: "busy", waitMs: 7_000 };
  await expect(client.auth.test()).rejects.toMatchObject({ code: ErrorCode.RateLimitedError, retryAfter: 7 });
  slack.play = { kind: "accept" };
  await expect(new WebClient("xoxb-revoked", { slackApiUrl: slack.url }).auth.test()).rejects.toMatchObject({
    data: { error: "invalid_auth" },
  });
});

test("the official client finds people in the stand-in as it does in Slack", async () => {
  const { slack, client } = await startSlack();
  const { user } = await client.users.info({ user: "U0MEG" });
  expect(user).toMatchObject({
    id: "U0MEG",
    team_id: WORKSPACE.team,
    is_email_confirmed: true,
    profile: { email: "meg@example.com" },
  });
  expect((await client.users.lookupByEmail({ email: "Meg@example.com" })).user).toEqual(user);
  for (const missing of [
    client.users.info({ user: "U0GONE" }),
    client.users.lookupByEmail({ email: "gone@example.com" }),
  ])
    await expect(missing).rejects.toMatchObject({ code: ErrorCode.PlatformError });
  slack.scopes = "chat:write";
  await expect(client.users.info({ user: "U0MEG" })).rejects.toMatchObject({
    data: { error: "missing_scope" },
  });
});

test("the official server takes what the stand-in sends for Slack's, signature and all", async () => {
  const { slack, client } = await startSlack();
  await postCard(client);
  const [message] = slack.messages;
  if (message === undefined) throw new Error("There is no message.");
  const { signingSecret, token } = WORKSPACE;
  const receiver = new HTTPReceiver({ signingSecret, port: 0 });
  const app = new App({ token, receiver, clientOptions: { slackApiUrl: slack.url } });
  const heard: unknown[] = [];
  app.action("approve", async ({ ack, body, action, client: { users } }) => {
    const { user } = await users.info({ user: body.user.id });
    heard.push([body.user.id, user?.profile?.email, "value" in action ? action.value : "", body.type]);
    await ack();
  });
  app.view("reject", async ({ ack, body, view }) => {
    heard.push([body.user.id, view.private_metadata, view.state.values["reason"]?.["input"]?.value]);
    await ack();
  });
  const server = await receiver.start(0);
  resources.add(() => receiver.stop());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const send = async (request: Request): Promise<number> => {
    const { headers } = request;
    const body = await request.text();
    const answer = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: "POST", headers, body });
    return answer.status;
  };
  const press = pressPayload(message, { user: "U0ANA", action: "approve" });
  expect(await send(signedRequest(press))).toBe(200);
  const view = { type: "modal", id: "V1", callback_id: "reject", private_metadata: "bound", blocks: [] };
  expect(await send(signedRequest(submitPayload(view, "U0BOB", { reason: "No." })))).toBe(200);
  expect(await send(signedRequest(press, { secret: "another secret" }))).toBe(401);
  expect(await send(signedRequest(press, { at: Date.now() - 400_000 }))).toBe(401);
  expect(heard).toEqual([
    ["U0ANA", "ana@example.com", "one", "block_actions"],
    ["U0BOB", "bound", "No."],
  ]);
});
