import { expect, test } from "vitest";
import type { PolicyVerdict } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import { startSlackScene } from "../../support/slack/slack-scene.ts";
import { type Json, type SlackMessage, WORKSPACE } from "../../support/slack/slack-stand-in.ts";

const resources = useResources();

function textOf(message: SlackMessage | undefined): string {
  return JSON.stringify(message?.blocks);
}

function actionsOf(message: SlackMessage): readonly unknown[] {
  const elements = message.blocks.flatMap((block) => (block["elements"] ?? []) as readonly Json[]);
  return elements.flatMap((element) => element["action_id"] ?? []);
}

test("a person approves in Slack: the call runs once, and the card says what became of it", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  const card = await scene.card("U0ANA", id);
  expect(actionsOf(card)).toEqual(["approve", "reject", "open"]);
  expect(textOf(card)).toContain("Pay bob?");
  expect((await scene.press(card, { user: "U0ANA", action: "approve" })).status).toBe(200);
  // Committed before it was acknowledged.
  const decided = await scene.engine.confirmation(id);
  expect(decided.decision).toMatchObject({
    confirmed: true,
    by: { id: "ana", kind: "channel", authenticated: true },
    via: "slack",
  });
  await scene.until(() => textOf(scene.slack.in("D0ANA")[0]).includes("The call succeeded."));
  expect(scene.slack.messages).toHaveLength(1);
  const [shown] = scene.slack.in("D0ANA");
  expect(shown && actionsOf(shown)).toEqual(["open"]);
  expect(textOf(shown)).toContain("By ana");
  expect(scene.ran).toEqual([{ to: "bob", amount: 5 }]);
});

test("every card of a question is updated when one person decides it, and when it is decided elsewhere", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const approvers = { roles: ["manager"] };
  const id = await scene.ask({ approvers });
  const card = await scene.card("U0MEG", id);
  await scene.card("U0BOB", id);
  await scene.card(WORKSPACE.room, id);
  await scene.press(card, { user: "U0MEG", action: "approve" });
  const all = (): readonly SlackMessage[] => scene.slack.messages;
  await scene.until(() => all().every((message) => textOf(message).includes("The call succeeded.")));
  expect(all().map(({ channel }) => channel)).toEqual([WORKSPACE.room, "D0BOB", "D0MEG"]);
  const other = await scene.ask({ approvers });
  await scene.card("U0MEG", other);
  await scene.engine.deny(other, { by: { id: "max", roles: ["manager"] }, reason: "Too much." });
  await scene.until(() =>
    all()
      .slice(3)
      .every((message) => textOf(message).includes("Reason: Too much.")),
  );
});

test("a rejection asks for a reason first, in a dialog", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask();
  await scene.press(await scene.card("U0ANA", id), { user: "U0ANA", action: "reject" });
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  expect(scene.slack.views.at(-1)).toMatchObject({ type: "modal", callback_id: "reject" });
  const answer = await scene.submit("U0ANA", { reason: "Not <!channel> now" });
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
  expect((await scene.engine.confirmation(id)).decision).toMatchObject({
    confirmed: false,
    reason: "Not <!channel> now",
  });
  await scene.until(() => textOf(scene.slack.in("D0ANA")[0]).includes("Reason: Not <!channel> now"));
  expect(scene.ran).toEqual([]);
});

const FORM = {
  type: "object",
  properties: {
    days: { type: "integer", minimum: 1, title: "Days" },
    paid: { type: "boolean" },
    kind: { type: "string", enum: ["holiday", "illness"] },
    note: { type: "string" },
  },
  required: ["days", "kind"],
};

test("a payload is filled in, and what does not fit is said under its field", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ schema: FORM });
  const card = await scene.card("U0ANA", id);
  expect(actionsOf(card)).toEqual(["fill", "reject", "open"]);
  await scene.press(card, { user: "U0ANA", action: "fill" });
  const kind = { value: "holiday" };
  const refused = await scene.submit("U0ANA", { days: "0", kind });
  expect(await refused.json()).toMatchObject({
    response_action: "errors",
    errors: { days: expect.any(String) as string },
  });
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  const taken = await scene.submit("U0ANA", { days: "3", kind, paid: { value: "true" } });
  expect([taken.status, await taken.text()]).toEqual([200, ""]);
  await scene.until(() => scene.ran.length > 0);
  expect(scene.ran).toEqual([{ to: "bob", amount: 5, payload: { days: 3, paid: true, kind: "holiday" } }]);
});

test("what a dialog cannot ask for is filled in elsewhere", async () => {
  const scene = await startSlackScene(resources);
  const schema = { type: "object", properties: { list: { type: "array", items: {} } }, required: ["list"] };
  const card = await scene.card("U0ANA", await scene.ask({ schema }));
  expect(actionsOf(card)).toEqual(["reject", "open"]);
});

test("a second press of the same button changes nothing, and a different one is told who decided", async () => {
  const scene = await startSlackScene(resources, { room: WORKSPACE.room });
  const id = await scene.ask({ approvers: { roles: ["manager"] } });
  const card = await scene.card(WORKSPACE.room, id);
  await scene.press(card, { user: "U0BOB", action: "approve" });
  expect((await scene.press(card, { user: "U0BOB", action: "approve" })).status).toBe(200);
  expect(scene.slack.views).toEqual([]);
  expect((await scene.press(card, { user: "U0MEG", action: "reject" })).status).toBe(200);
  expect(JSON.stringify(scene.slack.views.at(-1))).toContain("bob approved this at");
  await scene.until(() => scene.ran.length > 0);
  expect(scene.ran).toHaveLength(1);
});

test("where two must approve, every card says how far it is, and the second approval runs it", async () => {
  const requirements = [{ from: { roles: ["manager"] }, count: 2 }];
  const policy = (): PolicyVerdict => ({ outcome: "confirm", reason: "two of them", requirements });
  const scene = await startSlackScene(resources, { policy });
  const id = await scene.ask();
  const cards = { bob: await scene.card("U0BOB", id), meg: await scene.card("U0MEG", id) };
  expect(textOf(cards.meg)).toContain("0 of 2 approvals so far.");
  await scene.press(cards.bob, { user: "U0BOB", action: "approve" });
  expect((await scene.engine.confirmation(id)).status).toBe("requested");
  await scene.until(() =>
    scene.slack.messages.every((card) => textOf(card).includes("1 of 2 approvals so far.")),
  );
  await scene.press(cards.bob, { user: "U0BOB", action: "approve" });
  expect(scene.ran).toEqual([]);
  // The card that Meg still has open shows the same call.
  await scene.press(cards.meg, { user: "U0MEG", action: "approve" });
  await scene.until(() => scene.slack.messages.every((card) => textOf(card).includes("The call succeeded.")));
  expect(scene.ran).toHaveLength(1);
});

test("an expired card says so and has no buttons", async () => {
  const scene = await startSlackScene(resources);
  const id = await scene.ask({ expiresInMs: 300 });
  await scene.card("U0ANA", id);
  await scene.until(async () => {
    await scene.engine.work({ once: true });
    return textOf(scene.slack.in("D0ANA")[0]).includes("Expired.");
  });
  expect(scene.slack.in("D0ANA").map(actionsOf)).toEqual([["open"]]);
});
