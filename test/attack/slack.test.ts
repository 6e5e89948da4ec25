import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/index.ts";
import { useResources } from "../support/resources.ts";
import { PEOPLE, type SlackScene, startSlackScene } from "../support/slack/slack-scene.ts";
import {
  type Json,
  pressPayload,
  type SlackMessage,
  signedRequest,
  WORKSPACE,
} from "../support/slack/slack-stand-in.ts";

const resources = useResources();

async function statusOf(scene: SlackScene, id: string): Promise<string> {
  return (await scene.engine.confirmation(id)).status;
}

/** What the person who pressed was told. */
function said({ slack }: SlackScene): string {
  return JSON.stringify(slack.views.at(-1) ?? "");
}

function button(message: SlackMessage, action: string): Json {
  const elements = message.blocks.flatMap((block) => (block["elements"] ?? []) as readonly Json[]);
  return elements.find((element) => element["action_id"] === action) ?? {};
}

/** The payload with another value in its button. */
function withValue(value: unknown, action = "approve"): Json {
  return { actions: [{ action_id: action, block_id: "b", value, type: "button", action_ts: "1.0" }] };
}

test("who can see a card but is not an approver decides nothing, and that is journalled", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const id = await scene.ask({ approvers: { roles: ["manager"], notRequester: true } });
  const card = await scene.card(WORKSPACE.room, id);
  for (const user of ["U0ANA", "U0SOMEBODY"]) {
    for (const action of ["approve", "reject"]) await scene.press(card, { user, action });
  }
  expect(said(scene)).toContain("not among the people");
  expect(await statusOf(scene, id)).toBe("requested");
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  const refused = records
    .filter(({ kind }) => kind === "decision-refused")
    .map(({ body }) => JSON.stringify(body));
  expect(refused).toHaveLength(4);
  expect(refused.filter((body) => body.includes("slack:U0SOMEBODY"))).toHaveLength(2);
});

test("a person who is no longer an approver decides nothing with the card that they still have, and that is journalled", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ approvers: { roles: ["manager"] } });
  const card = await scene.card("U0BOB", id);
  const press = pressPayload(card, { user: "U0BOB", action: "approve" });
  const roleless = scene.entriesFor(PEOPLE.map(({ id: person, slack }) => ({ id: person, slack })));
  expect((await roleless.fetch(signedRequest(press))).status).toBe(200);
  expect(await statusOf(scene, id)).toBe("requested");
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  expect(records.filter(({ kind }) => kind === "decision-refused")).toHaveLength(1);
  // It was their right that was missing: with it, the same request still decides nothing, and another press does.
  await scene.app.fetch(signedRequest(press));
  expect(await statusOf(scene, id)).toBe("requested");
  await scene.press(card, { user: "U0BOB", action: "approve" });
  expect(await statusOf(scene, id)).not.toBe("requested");
});

test.each(["fill", "reject"])(
  "who gets the right to decide while their press of %s is looked at decides nothing by it: they have seen no dialog",
  async (action) => {
    const scene = await startSlackScene(resources, { room: WORKSPACE.room });
    const schema = { type: "object", properties: { note: { type: "string" } } };
    const id = await scene.ask({ approvers: { users: ["bob"] }, schema });
    const card = await scene.card(WORKSPACE.room, id);
    const by = { id: "bob", kind: "token", roles: [], scopes: ["decide"], authenticated: true } as const;
    const counting = scene.engine.counting.bind(scene.engine);
    vi.spyOn(scene.engine, "counting").mockImplementationOnce(async () => {
      const before = await counting();
      await scene.engine.delegate({ to: "meg", until: Date.now() + 600_000 }, { by });
      return before;
    });
    await scene.press(card, { user: "U0MEG", action });
    expect(said(scene)).toContain("Not decided");
    const { status, votes } = await scene.engine.confirmation(id);
    expect([status, votes, scene.ran]).toEqual(["requested", [], []]);
    const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
    expect(records.find(({ kind }) => kind === "decision-refused")?.body).toMatchObject({
      code: "not-an-approver",
      by: { id: "meg", kind: "channel", authenticated: true },
    });
    // From now on they are asked, as everybody who may decide.
    await scene.press(card, { user: "U0MEG", action });
    expect(scene.slack.views.at(-1)).toMatchObject({ callback_id: action });
  },
);

const TOO_MUCH: readonly (readonly [string, JsonObject])[] = [
  ["a value of more than 3,000 characters", { text: "x".repeat(3_000) }],
  [
    "more text than a message holds",
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`a${i}`, "x".repeat(2_500)])),
  ],
  ["a name of more than 3,000 characters", { ["n".repeat(3_000)]: 1 }],
];

test.each(TOO_MUCH)("%s cannot be approved here, whatever button is sent", async (_what, args) => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ args });
  const card = await scene.card("U0ANA", id);
  expect(JSON.stringify(card.blocks)).toContain("Open it in the inbox to read all of it");
  expect(button(card, "approve")).toEqual({});
  const value = button(card, "reject")["value"];
  await scene.press(card, { user: "U0ANA", action: "approve", payload: withValue(value) });
  expect(await statusOf(scene, id)).toBe("requested");
});

const TRICKS =
  "\u202Egnp.exe <!channel> <@U0BOB> @here *bold* `code` :smile: <https://evil.example|safe> &lt; \u0000";

test("what a model wrote is plain text: no mention, no markup, nothing hidden or reordered", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ hint: TRICKS, args: { [TRICKS]: TRICKS } });
  const card = await scene.card("U0ANA", id);
  const texts: Json[] = [];
  JSON.stringify(card.blocks, (_name, value: unknown) => {
    if (typeof value === "object" && value !== null && "text" in value && typeof value.text === "string") {
      texts.push(value);
    }
    return value;
  });
  expect(new Set(texts.map(({ type }) => type))).toEqual(new Set(["plain_text"]));
  expect(new Set(texts.map(({ emoji }) => emoji))).toEqual(new Set([false]));
  const all = JSON.stringify(card.blocks);
  expect(all).toContain("⟨U+202E⟩gnp.exe <!channel>");
  expect(all).not.toMatch(/\u202E|\\u0000"/);
  // Slack reads this one as markup, so nothing of a stranger's is in it.
  expect(card.text).toBe("A call waits for your decision.");
});

test("no address that a request names is ever called", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  const before = scene.slack.calls.length;
  const evil = `${scene.slack.url}response-url`;
  await scene.press(card, {
    user: "U0NOBODY",
    action: "approve",
    payload: { response_url: evil, response_urls: [{ response_url: evil }] },
  });
  const methods = scene.slack.calls.slice(before).map(({ method }) => method);
  expect(methods).toEqual(["views.open"]);
});

test("other interactions are acknowledged, and other bodies refused", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  expect((await scene.press(card, { user: "U0ANA", action: "open" })).status).toBe(200);
  const ours = { team: { id: WORKSPACE.team }, api_app_id: WORKSPACE.app, user: { id: "U0ANA" } };
  const closed = await scene.app.fetch(signedRequest({ type: "view_closed", ...ours }));
  expect(closed.status).toBe(200);
  for (const body of ["", "payload=", "payload={", "payload=[]", "payload=null&payload=null", "a=b", "{}"]) {
    expect((await scene.app.fetch(signedRequest(body))).status).toBe(400);
  }
  expect((await scene.app.fetch(new Request("http://127.0.0.1/channels/slack/nothing"))).status).toBe(401);
  expect(await statusOf(scene, id)).toBe("requested");
});
