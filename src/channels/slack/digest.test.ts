import { expect, test } from "vitest";
import { type HeldQuestions, holdQuestions } from "../../../test/support/channels/held-questions.ts";
import { dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { useResources } from "../../../test/support/resources.ts";
import { SlackStandIn, WORKSPACE } from "../../../test/support/slack/slack-stand-in.ts";
import { type Ledger, putNotificationSettings, toldPeople } from "../../engine/index.ts";
import type { Channel, Notice } from "../channel.ts";
import { createSlackChannel } from "./slack-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;
const HOUR_MS = 3_600_000;

async function startSlack(): Promise<SlackStandIn> {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  return slack;
}

function createSlack(slack: SlackStandIn, ledger: Ledger, roles: readonly string[] = []): Channel {
  const { token, signingSecret, team, app } = WORKSPACE;
  const people = [{ id: "ana", slack: "U0ANA", roles }];
  return createSlackChannel({ token, signingSecret, team, app, people, apiUrl: slack.url, ledger });
}

async function tellAll(
  { ledger, clock }: HeldQuestions,
  slack: SlackStandIn,
  notices: readonly Notice[],
): Promise<void> {
  const left = new Set(notices);
  for (let tries = 0; left.size > 0; tries += 1) {
    if (tries > 20) throw new Error("It is never told.");
    for (const notice of left)
      if ((await createSlack(slack, ledger).tell(notice, signal)).ok) left.delete(notice);
    await clock.advance(LATER_MS);
  }
}

test("what was held back is one message that opens each in the inbox, and decides nothing", async () => {
  const slack = await startSlack();
  const held = await holdQuestions(resources, ["pay", "wire", "*wipe* <!channel>"]);
  await tellAll(held, slack, held.notices);
  await tellAll(held, slack, held.notices);
  const [message] = slack.messages;
  expect(slack.messages.map(({ channel, text }) => [channel, text])).toEqual([
    ["D0ANA", "3 calls wait for your decision."],
  ]);
  const blocks = JSON.stringify(message?.blocks);
  for (const { link = "", about } of held.notices) {
    expect(blocks).toContain(link);
    const told = await toldPeople(held.ledger, "id" in about ? about.id : "");
    expect(told).toMatchObject([{ channel: "slack", person: "ana", state: "sent" }]);
  }
  expect(blocks).not.toMatch(/mrkdwn|"action_id":"(approve|reject|fill)"/);
});

test("a digest that Slack refuses for good does not silence anybody: each question has its card", async () => {
  const slack = await startSlack();
  slack.refuses = (text) => text.includes("calls wait");
  const held = await holdQuestions(resources, ["pay", "wire"]);
  await tellAll(held, slack, held.notices);
  await tellAll(held, slack, held.notices);
  expect(slack.messages.map(({ text }) => text)).toEqual(
    held.notices.map(() => "A call waits for your decision."),
  );
});

test.each([true, false])(
  "a process that dies at any write leaves one message about all that waits (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const slack = await startSlack();
      const held = await holdQuestions(resources, ["pay", "wire"]);
      const [notice] = held.notices;
      if (notice === undefined) throw new Error("There is one.");
      const died = await createSlack(slack, dyingStore(held.ledger, { writes, committed }))
        .tell(notice, signal)
        .then(
          () => false,
          () => true,
        );
      await tellAll(held, slack, held.notices);
      const texts = slack.messages.map(({ text }) => text);
      expect({ writes, texts }).toEqual({ writes, texts: ["2 calls wait for your decision."] });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

/** The question is denied, and the notice that tells of it. */
async function denied({ engine }: HeldQuestions, notice: Notice | undefined): Promise<Notice> {
  if (notice === undefined || !("id" in notice.about)) throw new Error("There is one.");
  await engine.deny(notice.about.id, { by: { id: "ana", roles: ["boss"] } });
  const about = { ...notice.about, status: "denied" as const };
  return { ...notice, id: `${notice.id}_ended`, type: "confirmation.decided", revision: 2, about };
}

test("how a question ended is shown in the digest that told of it, and nothing else is sent", async () => {
  const slack = await startSlack();
  const held = await holdQuestions(resources, ["pay", "wire"]);
  await tellAll(held, slack, held.notices);
  const [pay, wire] = held.notices;
  await tellAll(held, slack, [await denied(held, pay)]);
  expect(slack.messages.map(({ text }) => text)).toEqual(["A call waits for your decision."]);
  expect(JSON.stringify(slack.messages[0]?.blocks)).toContain("pay\\nDenied. The call did not run.");
  await tellAll(held, slack, [await denied(held, wire)]);
  expect(slack.messages.map(({ text }) => text)).toEqual(["None of these calls waits for a decision."]);
});

test("what its reader is no longer asked is not added to a digest when another question ends", async () => {
  const slack = await startSlack();
  const held = await holdQuestions(resources, ["pay", "wire", "wipe"], ({ tool }) => ({
    outcome: "confirm",
    reason: "all",
    approvers: tool === "wipe" ? { roles: ["boss"] } : { users: ["ana"] },
  }));
  const [pay, wire, wipe] = held.notices;
  if (pay === undefined || wire === undefined || wipe === undefined) throw new Error("There are three.");
  // The digest is made while ana is a boss, and cannot be sent.
  slack.play = { kind: "fail" };
  await createSlack(slack, held.ledger, ["boss"]).tell(pay, signal);
  slack.play = { kind: "accept" };
  await held.clock.advance(HOUR_MS);
  await tellAll(held, slack, [pay, wire, wipe]);
  expect(JSON.stringify(slack.messages)).not.toContain("wipe");
  await tellAll(held, slack, [await denied(held, pay)]);
  expect(slack.messages.map(({ text }) => text)).toEqual(["A call waits for your decision."]);
  expect(JSON.stringify(slack.messages)).not.toContain("wipe");
  await tellAll(held, slack, [await denied(held, wipe), await denied(held, wire)]);
  expect(slack.messages.map(({ text }) => text)).toEqual(["None of these calls waits for a decision."]);
  expect(JSON.stringify(slack.messages)).not.toContain("wipe");
});

test.each([true, false])(
  "a process that dies at any write leaves no digest that shows a decided question as open (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const slack = await startSlack();
      const held = await holdQuestions(resources, ["pay", "wire"]);
      const [pay] = held.notices;
      if (pay === undefined) throw new Error("There is one.");
      const died = await createSlack(slack, dyingStore(held.ledger, { writes, committed }))
        .tell(pay, signal)
        .then(
          () => false,
          () => true,
        );
      const ended = await denied(held, pay);
      const over = { ...pay, about: ended.about };
      await tellAll(held, slack, [ended, over, ...held.notices.slice(1)]);
      const shown = slack.messages.map(({ text, blocks }) => `${text} ${JSON.stringify(blocks)}`);
      expect({ writes, messages: shown.length }).toEqual({ writes, messages: 1 });
      expect(shown[0]).not.toMatch(/2 calls|pay\\n(?!Denied)/);
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

test("several reminders that were held back are one reply under the card", async () => {
  const slack = await startSlack();
  const held = await holdQuestions(resources, ["pay"]);
  const [notice] = held.notices;
  if (notice === undefined) throw new Error("There is one.");
  // The card came before the quiet hours.
  await putNotificationSettings(held.ledger.items, "ana", { off: [] });
  await tellAll(held, slack, [notice]);
  await held.clock.advance(12 * HOUR_MS);
  const quiet = { timeZone: "UTC", from: "22:00", to: "07:00" };
  await putNotificationSettings(held.ledger.items, "ana", { off: [], quiet });
  const nightAt = Date.UTC(2026, 0, 2, 23);
  const reminders = [0, 1, 2].map(
    (place): Notice => ({
      ...notice,
      id: `msg_reminder_${place}`,
      type: "confirmation.reminded",
      at: nightAt + place * HOUR_MS,
    }),
  );
  await held.clock.advance(12 * HOUR_MS);
  await tellAll(held, slack, reminders);
  expect(slack.messages.filter(({ thread_ts: thread }) => thread !== undefined)).toHaveLength(1);
});
