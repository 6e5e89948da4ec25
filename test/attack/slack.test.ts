import { expect, test } from "vitest";
import { splitButtonValue } from "../../src/channels/slack/button.ts";
import type { JsonObject } from "../../src/index.ts";
import { useResources } from "../support/resources.ts";
import { PEOPLE, type SlackScene, startSlackScene } from "../support/slack/slack-scene.ts";
import {
  type Json,
  pressPayload,
  type SlackMessage,
  signedRequest,
  submitPayload,
  WORKSPACE,
} from "../support/slack/slack-stand-in.ts";

const resources = useResources();
const FIVE_MINUTES_MS = 300_000;

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

test("forged and old requests are refused before anything is read", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  const press = { user: "U0ANA", action: "approve" };
  const payload = pressPayload(card, press);
  const unsigned = signedRequest(payload);
  unsigned.headers.delete("x-slack-signature");
  const { headers } = signedRequest(payload);
  const altered = new Request(unsigned.url, { method: "POST", headers, body: "payload=%7B%7D" });
  const refused = [
    await scene.app.fetch(unsigned),
    await scene.app.fetch(altered),
    await scene.press(card, press, { secret: "another signing secret" }),
    await scene.press(card, press, { at: Date.now() - FIVE_MINUTES_MS - 2_000 }),
    await scene.press(card, press, { at: Date.now() + FIVE_MINUTES_MS + 2_000 }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  const read = await scene.app.fetch(new Request("http://127.0.0.1/channels/slack/interactions"));
  expect(read.status).toBe(405);
  expect(await statusOf(scene, id)).toBe("requested");
});

test("a request that is sent again decides the same and runs nothing twice", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const payload = pressPayload(await scene.card("U0ANA", id), { user: "U0ANA", action: "approve" });
  const at = Date.now();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => scene.app.fetch(signedRequest(payload, { at }))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  await scene.until(() => scene.ran.length > 0);
  await scene.engine.finished((await scene.engine.ledger.load({ confirmation: id }))?.call?.id ?? "");
  expect(scene.ran).toHaveLength(1);
});

test("another workspace, another app, and a guest of another workspace are refused", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  for (const payload of [
    { team: { id: "T0002", domain: "evil" } },
    { team: null },
    { api_app_id: "A0002" },
    { user: { id: "U0ANA", team_id: "T0002" } },
  ]) {
    const answer = await scene.press(card, { user: "U0ANA", action: "approve", payload });
    expect(answer.status).toBe(400);
  }
  expect(await statusOf(scene, id)).toBe("requested");
});

test("a button counts only in the message that it was given to", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const approvers = { roles: ["manager"] };
  const [harmless, grave] = [
    await scene.ask({ approvers }),
    await scene.ask({ approvers, args: { amount: 1e9 } }),
  ];
  const cards = {
    harmless: await scene.card("U0BOB", harmless),
    grave: await scene.card("U0BOB", grave),
    room: await scene.card(WORKSPACE.room, grave),
  };
  const stolen = button(cards.grave, "approve")["value"];
  const copies: readonly [SlackMessage, unknown][] = [
    // Under the harmless card, under the same question elsewhere, and in a message that is not ours.
    [cards.harmless, stolen],
    [cards.room, stolen],
    [{ ...cards.grave, ts: "1.000001" }, stolen],
    [{ ...cards.grave, channel: "C0EVIL" }, stolen],
    // The rejection's value, and values with another version or another confirmation.
    [cards.grave, button(cards.grave, "reject")["value"]],
    [cards.grave, String(stolen).replace(/\.\d+\./, ".2.")],
    [
      cards.grave,
      `${splitButtonValue(button(cards.harmless, "approve")["value"])?.key}${String(stolen).slice(32)}`,
    ],
    [cards.grave, grave],
    [cards.grave, undefined],
  ];
  for (const [message, value] of copies) {
    const payload = withValue(value);
    const answer = await scene.press(message, { user: "U0BOB", action: "approve", payload });
    expect(answer.status).toBe(200);
    expect(said(scene)).toContain("no longer current");
  }
  expect([await statusOf(scene, harmless), await statusOf(scene, grave)]).toEqual(["requested", "requested"]);
});

test("a dialog counts only for the person who opened it, and for what it was opened for", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const id = await scene.ask({ approvers: { roles: ["manager"] } });
  await scene.press(await scene.card(WORKSPACE.room, id), { user: "U0BOB", action: "reject" });
  const [view = {}] = scene.slack.views;
  for (const payload of [
    submitPayload(view, "U0MEG", {}),
    submitPayload({ ...view, callback_id: "fill" }, "U0BOB", {}),
    submitPayload({ ...view, callback_id: "approve" }, "U0BOB", {}),
    submitPayload(
      { ...view, private_metadata: String(view["private_metadata"]).replace("C0001", "D0BOB") },
      "U0BOB",
      {},
    ),
    submitPayload({ ...view, private_metadata: "" }, "U0BOB", {}),
  ]) {
    const answer = await scene.app.fetch(signedRequest(payload));
    expect(await answer.json()).toMatchObject({ response_action: "update" });
  }
  for (const over of [{ app_id: "A0002" }, { team_id: "T0002" }]) {
    const answer = await scene.app.fetch(signedRequest(submitPayload({ ...view, ...over }, "U0BOB", {})));
    expect(answer.status).toBe(400);
  }
  expect(await statusOf(scene, id)).toBe("requested");
});

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

test("a person who is no longer configured cannot use the card that they still have", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ approvers: { roles: ["manager"] } });
  const card = await scene.card("U0BOB", id);
  const entries = scene.entriesFor(PEOPLE.filter((person) => person.id !== "bob"));
  const press = signedRequest(pressPayload(card, { user: "U0BOB", action: "approve" }));
  expect((await entries.fetch(press)).status).toBe(200);
  expect(said(scene)).toContain("not among the people");
  expect(await statusOf(scene, id)).toBe("requested");
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

test("a message that somebody else edited, or that shows something else, approves nothing", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  const [first = {}, ...rest] = card.blocks;
  const edits: readonly Partial<SlackMessage>[] = [
    { edited: { user: "U0EVIL", ts: "1.0" } },
    { app_id: "A0002" },
    { blocks: rest },
    { blocks: [] },
    { blocks: [first, first, ...rest] },
    { blocks: card.blocks.toReversed() },
  ];
  for (const edit of edits) {
    const payload = { ...withValue(button(card, "approve")["value"]) };
    await scene.press({ ...card, ...edit }, { user: "U0ANA", action: "approve", payload });
    expect(said(scene)).toContain("no longer current");
  }
  expect(await statusOf(scene, id)).toBe("requested");
});

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
