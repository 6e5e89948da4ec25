import { join } from "node:path";
import { expect, test } from "vitest";
import { type Crash, dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { useResources } from "../../../test/support/resources.ts";
import { SlackStandIn, WORKSPACE } from "../../../test/support/slack/slack-stand-in.ts";
import { type Ledger, ManualClock } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice } from "../channel.contract.ts";
import type { Channel, Notice } from "../channel.ts";
import { createSlackChannel } from "./slack-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;
const PLACES = [WORKSPACE.room, "D0ANA", "D0BOB"];

interface Telling extends Crash {
  /** What was told before. */
  readonly before: readonly Notice[];
  /** What is told in a process that dies, and then again and again in others, until it is told. */
  readonly notice: Notice;
}

async function tellThroughCrash(
  slack: SlackStandIn,
  { before, notice, ...crash }: Telling,
): Promise<{ readonly died: boolean }> {
  const clock = new ManualClock();
  const ledger = await createLedger(`sqlite:${join(await resources.folder(), "ledger.db")}`, { clock });
  resources.add(() => ledger.close());
  const create = (store: Ledger): Channel =>
    createSlackChannel({
      ...WORKSPACE,
      ledger: store,
      people: [
        { id: "ana", slack: "U0ANA" },
        { id: "ana", slack: "U0BOB" },
      ],
      apiUrl: slack.url,
    });
  for (const earlier of before) await create(ledger).tell(earlier, signal);
  const first = create(dyingStore(ledger, crash));
  const died = await first.tell(notice, signal).then(
    () => false,
    () => true,
  );
  for (let tries = 0; tries < 10; tries += 1) {
    const told = await create(ledger).tell(notice, signal);
    if (told.ok) return { died };
    await clock.advance(LATER_MS);
  }
  throw new Error("It is never told.");
}

const REMINDER = buildNotice({ id: "msg_2", type: "confirmation.reminded" });

test.each([
  ["a card", true, { before: [], notice: buildNotice() }],
  ["a card", false, { before: [], notice: buildNotice() }],
  ["a card that a reminder brings", true, { before: [], notice: REMINDER }],
  ["a card that a reminder brings", false, { before: [], notice: REMINDER }],
  ["a reminder", true, { before: [buildNotice()], notice: REMINDER }],
  ["a reminder", false, { before: [buildNotice()], notice: REMINDER }],
] as const)(
  "a process that dies at any write leaves one message per person: %s (committed: %s)",
  async (_what, committed, telling) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const slack = await new SlackStandIn().listen();
      resources.add(() => slack.close());
      const { died } = await tellThroughCrash(slack, { ...telling, writes, committed });
      const inThreads = slack.messages.filter(({ thread_ts: thread }) => thread !== undefined);
      const places = PLACES.flatMap((place) => slack.in(place).map(({ channel }) => channel));
      const replies = inThreads.map(({ channel }) => channel).toSorted();
      const expected = { writes, places: PLACES, replies: telling.before.length === 0 ? [] : PLACES };
      expect({ writes, places, replies }).toEqual(expected);
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);
