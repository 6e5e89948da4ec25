import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import { type Ledger, ManualClock, MessageBook, type ToldPerson, toldPeople } from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import { buildNotice } from "./channel.contract.ts";
import type { Notice, Told } from "./channel.ts";
import type { Sent } from "./failures.ts";
import { toChannelPrincipal } from "./people.ts";
import { tellPeople } from "./tell-people.ts";

const resources = useResources();
const signal = new AbortController().signal;
const AT = Date.UTC(2026, 0, 1);
const LATER_MS = 60_000;
const FULL: Sent = { ok: false, reason: "550 full", isUnsure: false };
const LOST: Sent = { ok: false, reason: "no answer", isUnsure: true };
const recipients = { all: ["a", "b"], asked: ["a", "b"], operators: [] };

interface Scene {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  /** What sending to each target answers. */
  readonly answers: Map<string, Sent>;
  readonly tell: (over?: Partial<Notice>) => Promise<Told>;
  /** Who was told, without times. */
  readonly told: () => Promise<readonly string[]>;
}

async function createScene(): Promise<Scene> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  await ledger.outbox.channelPlace("test");
  const book = new MessageBook(ledger.items, "test", () => ledger.now);
  const answers = new Map<string, Sent>();
  return {
    clock,
    ledger,
    answers,
    tell: (over) =>
      tellPeople({
        ledger,
        channel: "test",
        book,
        notice: buildNotice(over),
        signal,
        recipients,
        personOf: (target) => toChannelPrincipal({ id: `person ${target}` }),
        send: async (target) => answers.get(target) ?? { ok: true },
      }),
    told: async () => (await toldPeople(ledger, aboutId())).map(inWords),
  };
}

function aboutId(): string {
  const { about } = buildNotice();
  return "id" in about ? about.id : "";
}

function inWords({ channel, person, state, isReply, reason = "" }: ToldPerson): string {
  return [channel, person, state, isReply ? "reply" : "first", reason].join(" ").trimEnd();
}

test("who was told is noted by person, and so is who was not, until it arrives", async () => {
  const { tell, told, answers, clock } = await createScene();
  expect(await told()).toEqual([]);
  answers.set("b", FULL);
  await tell();
  expect(await told()).toEqual(["test person a sent first", "test person b failed first 550 full"]);
  answers.set("b", LOST);
  await tell();
  expect(await told()).toEqual(["test person a sent first", "test person b unsure first"]);
  answers.delete("b");
  await clock.advance(LATER_MS);
  await tell();
  expect(await told()).toEqual(["test person a sent first", "test person b sent first"]);
});

test("somebody who could not be told of the question is told first by the reminder", async () => {
  const { tell, told, answers, clock } = await createScene();
  answers.set("b", FULL);
  await tell();
  answers.clear();
  await clock.advance(LATER_MS);
  await tell({ id: "msg_2", type: "confirmation.reminded" });
  expect((await told()).toSorted()).toEqual([
    "test person a sent first",
    "test person a sent reply",
    "test person b sent first",
  ]);
});

test("whoever has voted is not reminded, and the others are", async () => {
  const { tell, told, clock } = await createScene();
  await tell();
  await clock.advance(LATER_MS);
  const { about } = buildNotice();
  const requirements = [{ from: { users: ["person a", "person b"] }, count: 2, approved: 1 }];
  const by = { id: "person a", kind: "channel", authenticated: true } as const;
  const vote = { confirmed: true, by, requirement: 0, via: "test", at: new Date(AT).toISOString() };
  const voted = { ...about, requirements, votes: [vote] };
  await tell({ id: "msg_2", type: "confirmation.reminded", about: voted });
  expect((await told()).toSorted()).toEqual([
    "test person a sent first",
    "test person b sent first",
    "test person b sent reply",
  ]);
});

test("other questions and other channels are not in it", async () => {
  const { tell, ledger } = await createScene();
  await tell();
  expect(await toldPeople(ledger, "adk-other")).toEqual([]);
  await ledger.outbox.channelPlace("other");
  expect(await toldPeople(ledger, aboutId())).toHaveLength(2);
});
