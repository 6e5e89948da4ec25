import { expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { type SlackScene, startSlackScene } from "../support/slack/slack-scene.ts";
import {
  type Json,
  type SlackMessage,
  signedRequest,
  submitPayload,
  WORKSPACE,
} from "../support/slack/slack-stand-in.ts";

const resources = useResources();
const MEG = "meg@example.com";
const PEOPLE = [
  { id: "ana", slack: "U0ANA" },
  { id: "meg", slack: "meg@Example.COM", roles: ["manager"] },
];
const MANAGER = { roles: ["manager"] };

async function startWithCard(): Promise<{
  readonly scene: SlackScene;
  readonly id: string;
  readonly card: SlackMessage;
}> {
  const scene = await startSlackScene(resources, { people: PEOPLE, room: WORKSPACE.room });
  const id = await scene.ask({ approvers: MANAGER });
  return { scene, id, card: await scene.card(WORKSPACE.room, id) };
}

/** What the person who pressed was told. */
function said({ slack }: SlackScene): string {
  return JSON.stringify(slack.views.at(-1) ?? "");
}

async function refusals({ engine }: SlackScene): Promise<number> {
  const records = await engine.ledger.journal.records({ after: 0, limit: 100 });
  return records.filter(({ kind }) => kind === "decision-refused").length;
}

test("a person known by a confirmed address gets a card, and decides as themselves", async () => {
  const { scene, id } = await startWithCard();
  const card = await scene.card("U0MEG", id);
  expect((await scene.press(card, { user: "U0MEG", action: "approve" })).status).toBe(200);
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({
    confirmed: true,
    by: { id: "meg", kind: "channel", authenticated: true },
    via: "slack",
  });
  expect(scene.slack.messages.map(({ channel }) => channel).toSorted()).toEqual([WORKSPACE.room, "D0MEG"]);
});

test("where nobody is named by an address, Slack is never asked for one", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const id = await scene.ask({ approvers: MANAGER });
  const card = await scene.card(WORKSPACE.room, id);
  await scene.press(card, { user: "U0STRANGER", action: "approve" });
  await scene.press(card, { user: "U0MEG", action: "approve" });
  expect(scene.slack.calls.filter(({ method }) => method.startsWith("users."))).toEqual([]);
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({ by: { id: "meg" } });
});

const OTHERS: readonly (readonly [string, Json])[] = [
  ["whose address is not confirmed", { is_email_confirmed: false }],
  ["of whose address Slack says nothing", { is_email_confirmed: undefined }],
  ["of another workspace", { team_id: "T0002" }],
  ["of no workspace", { team_id: undefined }],
  ["of another workspace in a shared conversation", { is_stranger: true }],
  ["who is deactivated", { deleted: true }],
  ["of whom Slack does not say whether they are deactivated", { deleted: undefined }],
  ["that is a bot", { is_bot: true }],
  ["that is a workflow", { is_workflow_bot: true }],
  ["that is a connector", { is_connector_bot: true }],
  ["who is a guest", { is_restricted: true }],
  ["who is a guest of one conversation", { is_ultra_restricted: true }],
  ["who has not joined yet", { is_invited_user: true }],
  ["with another account's id", { id: "U0BOB" }],
  ["without an address", { profile: {} }],
  ["with another address", { profile: { email: "bob@example.com" } }],
  ["with the address in capitals", { profile: { email: "MEG@example.com" } }],
  ["with a suffix in the address", { profile: { email: "meg+a@example.com" } }],
  ["with a dot in the address", { profile: { email: "m.eg@example.com" } }],
  ["with a space after the address", { profile: { email: "meg@example.com " } }],
  ["with a dot after the address", { profile: { email: "meg@example.com." } }],
  ["with two addresses", { profile: { email: "meg@example.com,bob@example.com" } }],
  ["with letters that look the same", { profile: { email: "m\u0435g@example.com" } }],
  ["with a hidden letter", { profile: { email: "meg\u200B@example.com" } }],
  ["with a longer domain", { profile: { email: "meg@example.com.evil.example" } }],
  ["with a list as address", { profile: { email: [MEG] } }],
  ["with the address as a name", { profile: { email: "bob@example.com", display_name: MEG }, name: MEG }],
];

test.each(OTHERS)("a member %s decides nothing, and that is journalled", async (_who, oddity) => {
  const { scene, id, card } = await startWithCard();
  scene.slack.oddities.set("U0MEG", oddity);
  for (const action of ["approve", "reject"]) {
    expect((await scene.press(card, { user: "U0MEG", action })).status).toBe(200);
    expect(said(scene)).toContain("not among the people");
  }
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  expect(await refusals(scene)).toBe(2);
  // It was the account that was wrong.
  scene.slack.oddities.clear();
  await scene.press(card, { user: "U0MEG", action: "approve" });
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({ by: { id: "meg" } });
});

const FAILING = [
  ["fails", { kind: "fail" }],
  ["is busy", { kind: "busy", waitMs: 1_000 }],
  ["hangs up", { kind: "hang up" }],
  ["never answers", { kind: "silence" }],
  ["never stops answering", { kind: "flood" }],
] as const;

test.each(FAILING)(
  "if users.info %s, nothing is decided, and whoever pressed is told",
  async (_how, play) => {
    const { scene, id, card } = await startWithCard();
    scene.slack.plays.set("users.info", play);
    const answer = await scene.press(card, { user: "U0MEG", action: "approve" });
    expect(answer.status).toBe(200);
    expect(said(scene)).toContain("Slack did not say who you are");
    expect((await scene.engine.confirmation(id)).status).toBe("requested");
    scene.slack.plays.clear();
    await scene.press(card, { user: "U0MEG", action: "approve" });
    expect((await scene.engine.confirmation(id)).decision).toMatchObject({ by: { id: "meg" } });
  },
);

test("without the scopes nothing is decided, and the check says which are missing", async () => {
  const { scene, id, card } = await startWithCard();
  scene.slack.scopes = "chat:write,im:write,im:history,channels:history,users:read";
  await scene.press(card, { user: "U0MEG", action: "approve" });
  expect(said(scene)).toContain("not among the people");
  scene.slack.scopes = "chat:write,im:write,im:history,channels:history";
  await scene.press(card, { user: "U0MEG", action: "approve" });
  expect(said(scene)).toContain("Slack did not say who you are");
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  const faults = await scene.channel.check?.(new AbortController().signal);
  expect(faults?.[0]).toContain("users:read, users:read.email");
});

test("who opened a dialog is asked for again when it is submitted", async () => {
  const { scene, id, card } = await startWithCard();
  await scene.press(card, { user: "U0MEG", action: "reject" });
  const [view = {}] = scene.slack.views;
  const submit = async (): Promise<unknown> =>
    (await scene.app.fetch(signedRequest(submitPayload(view, "U0MEG", { reason: "No." })))).text();
  scene.slack.oddities.set("U0MEG", { deleted: true });
  expect(await submit()).toContain("not among the people");
  scene.slack.oddities.clear();
  scene.slack.plays.set("users.info", { kind: "fail" });
  expect(await submit()).toContain("Slack did not say who you are");
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  scene.slack.plays.clear();
  expect(await submit()).toBe("");
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({ by: { id: "meg" }, reason: "No." });
});

test("an address that went to somebody else takes the right with it, at once", async () => {
  const { scene, id, card } = await startWithCard();
  await scene.press(card, { user: "U0MEG", action: "reject" });
  scene.slack.oddities.set("U0MEG", { profile: { email: "old@example.com" } });
  scene.slack.oddities.set("U0BOB", { profile: { email: MEG } });
  await scene.press(card, { user: "U0MEG", action: "approve" });
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  await scene.press(card, { user: "U0BOB", action: "approve" });
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({ by: { id: "meg" } });
});

test("whoever has the address of a person who is named by an id is not that person", async () => {
  const scene = await startSlackScene(resources, {
    people: [{ id: "bob", slack: "U0BOB", roles: ["manager"] }, ...PEOPLE],
    room: WORKSPACE.room,
  });
  const id = await scene.ask({ approvers: { users: ["bob"] } });
  scene.slack.users = new Set([...scene.slack.users, "U0TWIN"]);
  scene.slack.oddities.set("U0TWIN", { profile: { email: "bob@example.com" } });
  await scene.press(await scene.card(WORKSPACE.room, id), { user: "U0TWIN", action: "approve" });
  expect(said(scene)).toContain("not among the people");
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
});
