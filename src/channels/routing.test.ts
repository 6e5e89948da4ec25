import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import { DEFAULT_DELIVERY_SETTINGS, toEnd } from "../engine/deliveries/delivery-settings.ts";
import {
  Engine,
  type Ledger,
  ManualClock,
  MessageBook,
  type NotificationSettings,
  type PolicyVerdict,
  putNotificationSettings,
} from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import type { Channel, Notice } from "./channel.ts";
import { type Deliveries, startDeliveries } from "./delivery.ts";
import { stillWaiting } from "./digest.ts";
import { BEING_SENT, type Failure } from "./failures.ts";
import { isWanted, noticeTypeOf } from "./notices.ts";
import { askedAmong, toChannelPrincipal } from "./people.ts";
import { mutedAmong, withHeld } from "./routing.ts";
import { tellPeople } from "./tell-people.ts";

const resources = useResources();
const HOUR_MS = 3_600_000;
const STEP_MS = 15 * 60_000;
/** What is being sent is held so long. */
const SENDING_MS = 20_000;
/** 22:00 to 07:00 in UTC; the clock starts at 23:00. */
const NIGHT: NotificationSettings = { off: [], quiet: { timeZone: "UTC", from: "22:00", to: "07:00" } };
const START = Date.UTC(2026, 0, 1, 23);
const MORNING = "2026-01-02T07:";
const PEOPLE = [{ id: "ana" }, { id: "bob" }, { id: "meg", roles: ["boss"] }];

/** How a rule wants people to be asked. */
type Asking = Pick<PolicyVerdict, "expiresInMs" | "remindAfterMs" | "escalate">;

interface Scene {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly engine: Engine;
  /** What was sent: who, what and when. */
  readonly sent: string[];
  readonly failures: string[];
  readonly ask: (key: string, over?: Asking) => Promise<string>;
  readonly set: (person: string, settings: NotificationSettings) => Promise<void>;
  /** A process that sends, on the same ledger file. */
  readonly start: () => Promise<Deliveries>;
  /** Lets so much time pass, in small steps. */
  readonly pass: (ms: number) => Promise<void>;
}

async function createScene(): Promise<Scene> {
  const path = join(await resources.folder(), "ledger.db");
  const clock = new ManualClock(START);
  const open = async (): Promise<Ledger> => {
    const opened = await createLedger(`sqlite:${path}`, { clock });
    resources.add(() => opened.close());
    return opened;
  };
  const ledger = await open();
  await ledger.outbox.channelPlace("test");
  let terms: Asking = {};
  const approvers = { users: ["ana", "bob"] };
  const policy = (): PolicyVerdict => ({ outcome: "confirm", reason: "all", approvers, ...terms });
  const engine = new Engine({ ledger, clock, policy });
  const sent: string[] = [];
  const failures: string[] = [];
  const worker = engine.work({ onError: (error) => failures.push(String(error)) });
  resources.add(() => worker.stop());
  return {
    clock,
    ledger,
    engine,
    sent,
    failures,
    async ask(key, over = {}) {
      terms = over;
      const gate = engine.gate(`pay-${key}`, {}, async () => 1);
      const asked = await gate({}, { key, by: { id: "rita" } });
      if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
      return asked.confirmation.id;
    },
    set: (person, settings) => putNotificationSettings(ledger.items, person, settings),
    async start() {
      const own = await open();
      const deliveries = startDeliveries({
        ledger: own,
        clock,
        channels: [testChannel(own, sent)],
        onFailure: ({ reason }) => failures.push(reason),
      });
      resources.add(() => deliveries.stop());
      return deliveries;
    },
    async pass(ms) {
      for (let passed = 0; passed <= ms; passed += STEP_MS) {
        await settle();
        await clock.advance(Math.min(STEP_MS, ms));
      }
      await settle();
    },
  };

  async function settle(): Promise<void> {
    do await clock.advance(50);
    while (!(await isSettled(ledger)));
  }
}

/** Is everything that is due done: reminders, the outbox filled, messages sent? */
async function isSettled(ledger: Ledger): Promise<boolean> {
  const { items } = await ledger.confirmations({ state: "open" });
  const due = items.flatMap(({ confirmation: { reminders = [], escalations = [] } }) => [
    ...reminders.filter(({ sent }) => !sent).map(({ at }) => at),
    ...escalations.filter(({ reached }) => !reached).map(({ at }) => at),
  ]);
  const records = await ledger.journal.records({ after: 0, limit: 1_000 });
  const last = records.findLast((record) => isWanted(noticeTypeOf(record), {}));
  const next = await ledger.outbox.nextDeliveryAt("test");
  return (
    due.every((at) => at > ledger.now) &&
    (last?.seq ?? 0) <= (await ledger.outbox.channelPlace("test")) &&
    (next === undefined || next > ledger.now + SENDING_MS)
  );
}

/** A channel in which every person has an address, and every message arrives. */
function testChannel(ledger: Ledger, sent: string[]): Channel {
  const book = new MessageBook(ledger.items, "test", () => ledger.now);
  const name = "test";
  return {
    name,
    tell: (notice: Notice, signal) => {
      const { about } = notice;
      const ids = PEOPLE.map(({ id }) => id);
      return tellPeople({
        ledger,
        channel: name,
        book,
        notice,
        signal,
        recipients: {
          all: ids,
          asked: "id" in about ? askedAmong(about, PEOPLE, notice.known).map(({ id }) => id) : [],
          operators: [],
        },
        personOf: (target) => toChannelPrincipal(PEOPLE.find(({ id }) => id === target) ?? { id: target }),
        send: async (target) => {
          sent.push(`${target} ${notice.type.split(".")[1]} ${new Date(ledger.now).toISOString()}`);
          return { ok: true };
        },
        sendDigest: async (target, digest) => {
          const tools = (await stillWaiting(ledger, digest)).map(({ tool }) => tool).toSorted();
          sent.push(`${target} digest of ${tools.join("+")} ${new Date(ledger.now).toISOString()}`);
          return { ok: true };
        },
      });
    },
  };
}

/** Without the minutes. */
function hours(sent: readonly string[]): readonly string[] {
  return sent.map((line) => line.replace(/(T\d\d:).*/, "$1")).toSorted();
}

test("a question in somebody's quiet hours is told to others at once, and to them when the hours end", async () => {
  const { ask, set, start, pass, sent, failures } = await createScene();
  await set("ana", NIGHT);
  await start();
  await ask("a");
  await pass(HOUR_MS);
  expect(hours(sent)).toEqual(["bob requested 2026-01-01T23:"]);
  await pass(8 * HOUR_MS);
  expect(hours(sent)).toEqual([`ana requested ${MORNING}`, "bob requested 2026-01-01T23:"]);
  expect(failures).toEqual([]);
});

test("what was decided meanwhile is told to nobody whom it was held back from", async () => {
  const { ask, set, start, pass, sent, engine, ledger } = await createScene();
  await set("ana", NIGHT);
  await set("bob", NIGHT);
  await start();
  const id = await ask("a", { remindAfterMs: [2 * HOUR_MS] });
  await pass(4 * HOUR_MS);
  expect(sent).toEqual([]);
  await engine.deny(id, { by: { id: "bob" } });
  await pass(6 * HOUR_MS);
  expect(sent).toEqual([]);
  expect(await ledger.outbox.nextDeliveryAt("test")).toBeUndefined();
});

test("a question and its reminders that were held back are one message", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  await set("ana", NIGHT);
  await start();
  await ask("a", { remindAfterMs: [HOUR_MS, 2 * HOUR_MS] });
  await pass(10 * HOUR_MS);
  const toAna = hours(sent.filter((line) => line.startsWith("ana")));
  expect(toAna.every((line) => line.endsWith(MORNING))).toBe(true);
  // The first of them asks; what the others say is said by it.
  expect(toAna).toHaveLength(1);
});

test("several questions that were held back are one message, of those that still wait", async () => {
  const { ask, set, start, pass, sent, engine } = await createScene();
  await set("ana", { off: [], quiet: { timeZone: "UTC", from: "22:00", to: "02:00" } });
  await start();
  await ask("a");
  const over = await ask("b", { remindAfterMs: [HOUR_MS] });
  await ask("c", { remindAfterMs: [HOUR_MS] });
  await pass(2 * HOUR_MS);
  await engine.deny(over, { by: { id: "bob" } });
  await pass(HOUR_MS + STEP_MS);
  const toAna = hours(sent.filter((line) => line.startsWith("ana")));
  expect(toAna).toEqual(["ana digest of pay-a+pay-c 2026-01-02T02:"]);
});

test("whoever wants to be told once a day is told at that time, in one message", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  await set("ana", { off: [], daily: { timeZone: "UTC", at: "01:00" } });
  await start();
  await ask("a");
  await ask("b");
  await pass(HOUR_MS);
  expect(sent.filter((line) => line.startsWith("ana"))).toEqual([]);
  await pass(HOUR_MS + STEP_MS);
  expect(hours(sent.filter((line) => line.startsWith("ana")))).toEqual([
    "ana digest of pay-a+pay-b 2026-01-02T01:",
  ]);
});

test("what would be over before the quiet hours end is told at once", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  await set("ana", NIGHT);
  await start();
  await ask("soon", { expiresInMs: 2 * HOUR_MS });
  await pass(STEP_MS);
  expect(hours(sent)).toContain("ana requested 2026-01-01T23:");
});

test("an escalation is told at once to those whom it asks, and later to the others", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  for (const person of ["ana", "bob", "meg"]) await set(person, NIGHT);
  await start();
  await ask("a", { escalate: [{ afterMs: HOUR_MS, to: { users: ["meg"] } }] });
  await pass(3 * HOUR_MS);
  expect(sent.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual(["meg escalated"]);
});

test.each([
  ["at any hour", {}],
  ["nor after their quiet hours", NIGHT],
])("a channel that somebody turned off does not tell them of questions: %s", async (_when, quiet) => {
  const { ask, set, start, pass, sent, failures } = await createScene();
  await set("ana", { ...quiet, off: ["test"] });
  await set("bob", { off: ["other"] });
  await start();
  await ask("a", { remindAfterMs: [HOUR_MS] });
  await pass(10 * HOUR_MS);
  expect(sent.every((line) => line.startsWith("bob"))).toBe(true);
  expect(sent).toHaveLength(2);
  expect(failures).toEqual([]);
});

test("whoever ends their quiet hours early hears within an hour", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  await set("ana", NIGHT);
  await start();
  await ask("a");
  await pass(HOUR_MS);
  await set("ana", { off: [] });
  await pass(HOUR_MS + STEP_MS);
  expect(sent.filter((line) => line.startsWith("ana"))).toHaveLength(1);
});

test("it is held back in the ledger: another process sends it when the hours end, once", async () => {
  const { ask, set, start, pass, sent } = await createScene();
  await set("ana", NIGHT);
  const first = await start();
  await ask("a");
  await pass(HOUR_MS);
  await first.stop();
  await Promise.all([start(), start()]);
  await pass(10 * HOUR_MS);
  expect(hours(sent)).toEqual([`ana requested ${MORNING}`, "bob requested 2026-01-01T23:"]);
});

test("a recipient who cannot be reached does not end what is held back for another", () => {
  const held: Failure = { ok: false, reason: "Held.", retryAfterMs: 5, isolated: true, isHeld: true };
  const gone: Failure = { ok: false, reason: "Gone.", final: true };
  const busy: Failure = { ok: false, reason: "Busy.", retryAfterMs: 7 };
  expect(withHeld([], undefined)).toEqual({ ok: true });
  expect(withHeld([], held)).toBe(held);
  expect(withHeld([gone], held)).toBe(held);
  expect(withHeld([gone], undefined)).toMatchObject({ final: true });
  expect(withHeld([busy, gone], held)).toEqual({ ok: false, reason: "Busy. Gone. Held.", retryAfterMs: 7 });
});

test("what another process is sending does not hold up the channel, unless something else does", () => {
  const held: Failure = { ok: false, reason: "Held.", retryAfterMs: 5, isolated: true, isHeld: true };
  const gone: Failure = { ok: false, reason: "Gone.", final: true };
  const busy: Failure = { ok: false, reason: "Busy." };
  expect(withHeld([BEING_SENT, BEING_SENT], undefined)).toEqual(BEING_SENT);
  expect(withHeld([BEING_SENT], held)).toMatchObject({ isolated: true });
  expect(withHeld([BEING_SENT, gone], undefined)).toMatchObject({ isolated: true });
  expect(withHeld([BEING_SENT, busy], undefined)).not.toHaveProperty("isolated");
  expect(withHeld([busy], held)).not.toHaveProperty("isolated");
});

test("quiet hours count for all logins of a person", async () => {
  const ledger = await createLedger("memory:", { clock: new ManualClock(START) });
  resources.add(() => ledger.close());
  await putNotificationSettings(ledger.items, "ana", NIGHT);
  const directory = { group: () => undefined, person: (id: string) => id.replace(/@sso$/, "") };
  const notice = {
    type: "confirmation.requested",
    at: START,
    about: { id: "adk-1", status: "requested" },
    known: { directory },
  } as unknown as Notice;
  const people = [{ id: "ana@sso" }, { id: "bob" }].map(toChannelPrincipal);
  const { ids } = await mutedAmong({ ledger, channel: "email" }, notice, people);
  expect([...ids]).toEqual([people[0]?.id]);
});

test("a notice that was held back for a night is tried again soon after its first failure", () => {
  const settings = DEFAULT_DELIVERY_SETTINGS;
  const failure = { ok: false, reason: "Try again." } as const;
  const end = toEnd(failure, { attempt: 11, holds: 10, since: 0 }, { settings, now: 0 });
  expect(end).toMatchObject({ as: "postponed" });
  expect(end.as === "postponed" && end.forMs).toBeLessThanOrEqual(settings.firstRetryMs);
});

test("a digest that is sent late leaves out what was decided meanwhile", async () => {
  const { ask, engine, ledger } = await createScene();
  const [one, other] = [await ask("a"), await ask("b")];
  await engine.deny(other, { by: { id: "bob" } });
  const digest = { subject: "digest 1", questions: [one, other], asks: () => true };
  expect((await stillWaiting(ledger, digest)).map(({ id }) => id)).toEqual([one]);
});

test("a digest that is sent late leaves out what its reader is no longer asked", async () => {
  const { ask, ledger } = await createScene();
  const [one, other] = [await ask("a"), await ask("b")];
  const digest = {
    subject: "digest 1",
    questions: [one, other],
    asks: ({ id }: { id: string }) => id === one,
  };
  expect((await stillWaiting(ledger, digest)).map(({ id }) => id)).toEqual([one]);
});
