import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { wrapLedger } from "../../test/support/ledger/ledger-proxy.ts";
import { useResources } from "../../test/support/resources.ts";
import {
  DEFAULT_DELIVERY_SETTINGS,
  type DeliveryFailure,
  Engine,
  type Ledger,
  ManualClock,
  OutcomeUnknown,
  type PolicyVerdict,
} from "../engine/index.ts";
import { tryApprove, tryDeny } from "../engine/testing/try-decide.ts";
import { createLedger } from "../stores/index.ts";
import type { Channel, Notice, Told } from "./channel.ts";
import { type Deliveries, type DeliveriesOptions, startDeliveries } from "./delivery.ts";
import { isFor } from "./notices.ts";

const resources = useResources();
const STEP_MS = 30;
const HOUR_MS = 3_600_000;
const DOWN: Told = { ok: false, reason: "The recipient is down." };

/** A channel that says what the test wants, and remembers what it was told. */
class Recorder implements Channel {
  readonly name: string;
  readonly told: Notice[] = [];
  answer: (notice: Notice, signal: AbortSignal) => Promise<Told> = async () => ({ ok: true });

  constructor(name = "recorder") {
    this.name = name;
  }

  tell(notice: Notice, signal: AbortSignal): Promise<Told> {
    this.told.push(notice);
    return this.answer(notice, signal);
  }

  get types(): readonly string[] {
    return this.told.map(({ type }) => type);
  }
}

interface Scene {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly failures: DeliveryFailure[];
  readonly pay: (key: string) => Promise<string>;
  readonly engine: Engine;
  /** Another handle on the same ledger. */
  readonly reopen: () => Promise<Ledger>;
  readonly deliver: (over: Partial<DeliveriesOptions> & Pick<DeliveriesOptions, "channels">) => Deliveries;
  /** Lets time pass in small steps until it is so. */
  readonly until: (isSo: () => boolean | Promise<boolean>) => Promise<void>;
}

async function createScene(body: () => Promise<number> = async () => 1): Promise<Scene> {
  const path = join(await resources.folder(), "ledger.db");
  const clock = new ManualClock();
  const failures: DeliveryFailure[] = [];
  const reopen = async (): Promise<Ledger> => {
    const ledger = await createLedger(`sqlite:${path}`, { clock });
    resources.add(() => ledger.close());
    return ledger;
  };
  const ledger = await reopen();
  const engine = new Engine({ ledger, clock });
  const gated = engine.gate("pay", { requireConfirmation: true, expiresInMs: HOUR_MS }, body);
  return {
    clock,
    ledger,
    failures,
    engine,
    reopen,
    async pay(key) {
      const asked = await gated({ to: key }, { key, by: { id: "ana" } });
      if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
      return asked.confirmation.id;
    },
    deliver(over) {
      const deliveries = startDeliveries({
        ledger,
        clock,
        link: (id) => `https://approvals.example/#/confirmations/${id}`,
        onFailure: (failure) => failures.push(failure),
        onError: (error) => {
          throw error;
        },
        ...over,
      });
      resources.add(() => stopped(deliveries, clock));
      return deliveries;
    },
    async until(isSo) {
      for (let step = 0; step < 2_000; step++) {
        if (await isSo()) return;
        await clock.advance(STEP_MS);
      }
      throw new Error("It never came to that.");
    },
  };
}

/** Stops them, and lets the time pass that they give to what is being sent. */
async function stopped(deliveries: Deliveries, clock: ManualClock): Promise<void> {
  const stopping = deliveries.stop().then(() => "stopped");
  const passing = (): Promise<string> => clock.advance(STEP_MS).then(() => "passing");
  while ((await Promise.race([stopping, passing()])) !== "stopped");
}

function byEmailOnly(): PolicyVerdict {
  return { outcome: "confirm", reason: "all", notify: ["email"] };
}

function inInboxOnly(): PolicyVerdict {
  return { outcome: "confirm", reason: "all", notify: [] };
}

/** A channel that stands where the journal ends now. */
async function openChannel(scene: Scene, channel: Channel): Promise<void> {
  await scene.ledger.outbox.channelPlace(channel.name);
}

describe("what is told", () => {
  test("what happens after a quiet while, at once: nothing is waited for that might be told with it", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    const told = Promise.withResolvers<Notice>();
    channel.answer = async (notice) => {
      told.resolve(notice);
      return { ok: true };
    };
    await openChannel(scene, channel);
    scene.deliver({ channels: [channel] });
    await scene.clock.advance(1_000);
    const id = await scene.pay("bob");
    expect((await told.promise).about).toMatchObject({ id });
  });

  test("a request and its decision, as they are then, in the order of the journal, with a link to the card", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    scene.deliver({ channels: [channel] });
    await openChannel(scene, channel);
    const id = await scene.pay("bob");
    await scene.until(() => channel.told.length === 1);
    expect(channel.told[0]).toMatchObject({
      type: "confirmation.requested",
      at: expect.any(Number) as number,
      about: { id, status: "requested", tool: "pay", args: { to: "bob" }, user: "ana" },
      link: `https://approvals.example/#/confirmations/${id}`,
    });
    await scene.engine.approve(id, { by: { id: "ana" } });
    await scene.until(() => channel.told.length === 2);
    expect(channel.told[1]).toMatchObject({
      type: "confirmation.decided",
      about: { id, decision: { confirmed: true, by: { id: "ana" } } },
    });
    expect(channel.told[1]?.sequence).toBeGreaterThan(channel.told[0]?.sequence ?? 0);
    expect(channel.told[1]?.id).not.toBe(channel.told[0]?.id);
  });

  test("denial, expiry and withdrawal", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    const [denied, withdrawn] = [await scene.pay("a"), await scene.pay("b")];
    await scene.pay("c");
    await scene.engine.deny(denied, { by: { id: "ana" } });
    await scene.engine.decisions.cancel(withdrawn, { by: { id: "ana" }, reason: "no longer needed" });
    await scene.clock.advance(HOUR_MS);
    await scene.engine.work({ once: true });
    scene.deliver({ channels: [channel] });
    await scene.until(() => channel.told.length === 6);
    expect(channel.types.toSorted()).toEqual([
      "confirmation.cancelled",
      "confirmation.decided",
      "confirmation.expired",
      ...Array.from({ length: 3 }, () => "confirmation.requested"),
    ]);
  });

  test("a call whose outcome is unknown, and that a person settled it", async () => {
    const scene = await createScene(async () => {
      throw new OutcomeUnknown("the line went dead");
    });
    const channel = new Recorder();
    await openChannel(scene, channel);
    scene.deliver({ channels: [channel] });
    const id = await scene.pay("bob");
    const receipt = await tryApprove(scene.engine, id, { by: { id: "ana" } });
    if (!receipt.ok) throw new Error(receipt.message);
    await scene.until(() => channel.types.includes("call.unknown"));
    expect(channel.told.at(-1)).toMatchObject({ about: { id, status: "unknown" } });
    await scene.engine.decisions.settle(
      { confirmation: id },
      { as: "succeeded", result: 1 },
      { by: { id: "ana" } },
    );
    await scene.until(() => channel.types.includes("call.settled"));
    expect(channel.told.at(-1)).toMatchObject({ about: { id, status: "succeeded" } });
  });

  test("what comes after records that are of no interest to anyone", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    scene.deliver({ channels: [channel] });
    const id = await scene.pay("bob");
    await scene.until(() => channel.told.length === 1);
    for (let round = 0; round < 3; round++) {
      await tryDeny(scene.engine, id, { by: { id: "bot", kind: "agent" } });
      for (let step = 0; step < 5; step++) await scene.clock.advance(STEP_MS);
    }
    const [refused] = await scene.ledger.journal.records({ after: channel.told[0]?.sequence ?? 0, limit: 1 });
    expect(refused?.kind).toBe("decision-refused");
    await scene.pay("eve");
    await scene.until(() => channel.told.length === 2);
    expect(channel.told[1]?.about.args).toEqual({ to: "eve" });
  });

  test("a question only by the channels that its rule names, and an unknown outcome by all", async () => {
    const scene = await createScene();
    const [slack, email] = [new Recorder("slack"), new Recorder("email")];
    for (const channel of [slack, email]) await openChannel(scene, channel);
    const engine = new Engine({ ledger: scene.ledger, clock: scene.clock, policy: byEmailOnly });
    const gated = engine.gate("wire", {}, async () => 1);
    const asked = await gated({}, { key: "k", by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    expect(asked.confirmation.notify).toEqual(["email"]);
    scene.deliver({ channels: [slack, email] });
    await scene.until(() => email.told.length === 1);
    await engine.deny(asked.confirmation.id, { by: { id: "ana" } });
    await scene.until(() => email.told.length === 2);
    await scene.until(async () => (await scene.ledger.outbox.nextDeliveryAt("slack")) === undefined);
    expect(slack.told).toEqual([]);
    const { about } = email.told[0] ?? {};
    if (about === undefined) throw new Error("It was told.");
    expect(isFor({ type: "call.unknown", about }, slack)).toBe(true);
    expect(isFor({ type: "confirmation.reminded", about }, slack)).toBe(false);
  });

  test("if none of the channels that a rule names is running, every channel, and an error says so once", async () => {
    const scene = await createScene();
    const [sms, push] = [new Recorder("sms"), new Recorder("push")];
    await openChannel(scene, sms);
    await openChannel(scene, push);
    const engine = new Engine({ ledger: scene.ledger, clock: scene.clock, policy: byEmailOnly });
    const gated = engine.gate("wire", {}, async () => 1);
    const asked = await gated({}, { key: "k", by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    await engine.deny(asked.confirmation.id, { by: { id: "ana" } });
    const errors: unknown[] = [];
    scene.deliver({ channels: [sms, push], concurrency: 1, onError: (error) => errors.push(error) });
    await scene.until(() => sms.told.length + push.told.length === 4);
    expect(sms.types).toEqual(["confirmation.requested", "confirmation.decided"]);
    expect(push.types).toEqual(sms.types);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining("email") as string }),
    ]);
  });

  test("everywhere, if the tool's author names people, though only a rule asks", async () => {
    const { ledger, clock } = await createScene();
    const engine = new Engine({ ledger, clock, policy: byEmailOnly });
    const gated = engine.gate("wire", { approvers: { users: ["cfo"] } }, async () => 1);
    const asked = await gated({}, { key: "k", by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    expect(asked.confirmation.notify).toBeUndefined();
  });

  test("nowhere, if a rule says that nobody is told, and that is no error", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    const engine = new Engine({ ledger: scene.ledger, clock: scene.clock, policy: inInboxOnly });
    await engine.gate("wire", {}, async () => 1)({}, { key: "k", by: { id: "ana" } });
    await scene.pay("bob");
    const errors: unknown[] = [];
    scene.deliver({ channels: [channel], concurrency: 1, onError: (error) => errors.push(error) });
    await scene.until(() => channel.told.length > 0);
    expect(channel.told.map(({ about }) => about.tool)).toEqual(["pay"]);
    expect(errors).toEqual([]);
  });

  test("nothing that was before the channel", async () => {
    const scene = await createScene();
    await scene.pay("before");
    const channel = new Recorder();
    await openChannel(scene, channel);
    await scene.pay("after");
    scene.deliver({ channels: [channel] });
    await scene.until(() => channel.told.length > 0);
    await scene.clock.advance(HOUR_MS);
    expect(channel.told.map(({ about }) => about.args)).toEqual([{ to: "after" }]);
  });

  test("of a session that was deleted, that its question was withdrawn, and nothing of what it said", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    const id = await scene.pay("swordfish");
    const { session } = (await scene.ledger.load({ confirmation: id })) ?? {};
    if (session === undefined) throw new Error("There is no session.");
    await scene.engine.deleteSession(session, { id: "ana" });
    scene.deliver({ channels: [channel] });
    await scene.until(async () => (await scene.ledger.outbox.nextDeliveryAt(channel.name)) === undefined);
    await scene.until(() => channel.told.length > 0);
    expect(channel.types).toEqual(["confirmation.cancelled"]);
    expect(channel.told[0]).toMatchObject({ about: { id, status: "cancelled", args: {} } });
    expect(JSON.stringify(channel.told)).not.toContain('"to"');
  });
});

describe("what does not arrive", () => {
  const PATIENT = { firstRetryMs: HOUR_MS, longestRetryMs: HOUR_MS };

  test("is sent again later, with the same id, until it arrives", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => DOWN;
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel], ...PATIENT });
    await scene.until(() => scene.failures.length === 1);
    await scene.clock.advance(HOUR_MS / 2 - 1_000);
    await scene.clock.advance(STEP_MS);
    expect(channel.told).toHaveLength(1);
    channel.answer = async () => ({ ok: true });
    await scene.clock.advance(HOUR_MS / 2 + 1_000);
    await scene.until(() => channel.told.length === 2);
    expect(channel.told[1]?.id).toBe(channel.told[0]?.id);
    expect(scene.failures).toEqual([
      {
        channel: "recorder",
        sequence: channel.told[0]?.sequence,
        attempt: 1,
        reason: DOWN.reason,
        dead: false,
      },
    ]);
    await scene.until(async () => (await scene.ledger.outbox.nextDeliveryAt(channel.name)) === undefined);
  });

  test("is not sent again before the recipient's Retry-After", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => ({ ...DOWN, retryAfterMs: 2 * HOUR_MS });
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel], firstRetryMs: 1 });
    await scene.until(() => scene.failures.length === 1);
    const dueAt = await scene.ledger.outbox.nextDeliveryAt(channel.name);
    expect((dueAt ?? 0) - scene.clock.now()).toBeGreaterThan(2 * HOUR_MS - 60_000);
  });

  test("does not hold up the others if it says that the failure is its own", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => ({ ...DOWN, isolated: true });
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel], firstRetryMs: HOUR_MS });
    await scene.until(() => scene.failures.length === 1);
    const { promise, resolve } = Promise.withResolvers<Told>();
    channel.answer = () => promise;
    await scene.pay("eve");
    await scene.pay("max");
    // Both at once: after a failure of the channel, only one would be tried.
    await scene.until(() => channel.told.length === 3);
    resolve({ ok: true });
    expect(scene.failures).toHaveLength(1);
  });

  test("fails in the end, is listed, and is sent once it is retried", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => DOWN;
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel], firstRetryMs: 100, maxAttempts: 3 });
    await scene.until(() => scene.failures.some(({ dead }) => dead));
    expect(scene.failures.map(({ attempt, dead }) => [attempt, dead])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    const [dead] = (await scene.ledger.outbox.deadDeliveries()).items;
    expect(dead).toMatchObject({ attempt: 3, error: DOWN.reason });
    channel.answer = async () => ({ ok: true });
    expect(await scene.ledger.outbox.reviveDelivery(channel.name, dead?.seq ?? 0)).toBe(true);
    await scene.until(() => channel.told.length === 4);
    expect(new Set(channel.told.map(({ id }) => id)).size).toBe(1);
  });

  test("fails at once if the recipient answers 410", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => ({ ...DOWN, final: true });
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel] });
    await scene.until(() => scene.failures.length === 1);
    expect(scene.failures[0]?.dead).toBe(true);
  });

  test("for good slows nobody else down: every other notice is tried at once", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => ({ ...DOWN, final: true });
    await openChannel(scene, channel);
    for (let i = 0; i < 20; i++) await scene.pay(`k${i}`);
    scene.deliver({ channels: [channel], concurrency: 4 });
    // The clock stands still.
    await vi.waitUntil(() => scene.failures.length === 20, { timeout: 10_000 });
    expect(scene.failures.every(({ dead }) => dead)).toBe(true);
    expect(channel.told).toHaveLength(20);
  });

  test("is left after a while, and the others are not held up for ever", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = (_notice, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(DOWN)));
    await openChannel(scene, channel);
    for (const key of ["a", "b", "c"]) await scene.pay(key);
    scene.deliver({ channels: [channel], concurrency: 2, timeoutMs: 5_000, ...PATIENT });
    await scene.until(() => channel.told.length === 2);
    await scene.clock.advance(5_000);
    await scene.until(() => scene.failures.length === 2);
    await scene.clock.advance(60_000);
    await scene.until(() => channel.told.length === 3);
    expect(new Set(channel.told.map(({ id }) => id)).size).toBe(3);
  });

  test("makes no storm: while a recipient fails, it is tried now and then and not once for all that waits", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = async () => DOWN;
    await openChannel(scene, channel);
    for (let i = 0; i < 40; i++) await scene.pay(`k${i}`);
    scene.deliver({ channels: [channel], concurrency: 4 });
    for (let second = 0; second < 60; second++) await scene.clock.advance(1_000);
    expect(channel.told.length).toBeGreaterThan(1);
    expect(channel.told.length).toBeLessThan(20);
    channel.answer = async () => ({ ok: true });
    await scene.until(async () => {
      await scene.clock.advance(10_000);
      return (await scene.ledger.outbox.nextDeliveryAt(channel.name)) === undefined;
    });
    expect(new Set(channel.told.map(({ id }) => id)).size).toBe(40);
  });
});

describe("who tells", () => {
  test("of several processes one tells each, and whoever starts later goes on where another stopped", async () => {
    const scene = await createScene();
    const channels = [new Recorder(), new Recorder(), new Recorder()];
    await openChannel(scene, new Recorder());
    const ledgers = [scene.ledger, await scene.reopen(), await scene.reopen()];
    const running = channels.map((channel, i) =>
      scene.deliver({ channels: [channel], ledger: ledgers[i] as Ledger }),
    );
    const all = (): readonly Notice[] => channels.flatMap(({ told }) => told);
    for (let i = 0; i < 30; i++) await scene.pay(`k${i}`);
    await scene.until(() => all().length >= 30);
    await Promise.all(running.map((each) => each.stop()));
    expect(all()).toHaveLength(30);
    expect(new Set(all().map(({ id }) => id)).size).toBe(30);
    await scene.pay("late");
    const last = new Recorder();
    scene.deliver({ channels: [last] });
    await scene.until(() => last.told.length === 1);
    expect(last.told[0]?.about.args).toEqual({ to: "late" });
  });

  test("a message that a process took and never finished is sent by another after its hold expires", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    const id = await scene.pay("bob");
    const [record] = await scene.ledger.journal.records({ after: 0, limit: 1 });
    const seqs = [record?.seq ?? 0];
    await scene.ledger.outbox.enqueue({ channel: channel.name, from: 0, to: seqs[0] ?? 0, seqs });
    await scene.ledger.outbox.takeDeliveries(channel.name, { limit: 1, holdMs: HOUR_MS });
    scene.deliver({ channels: [channel] });
    await scene.clock.advance(HOUR_MS - 60_000);
    expect(channel.told).toEqual([]);
    await scene.clock.advance(60_000);
    await scene.until(() => channel.told.length === 1);
    expect(channel.told[0]).toMatchObject({ about: { id } });
  });

  test("what was sent and could not be noted is sent again under the same id, and what was noted is not", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    for (const key of ["a", "b", "c", "d"]) await scene.pay(key);
    let notes = 0;
    // As where a process dies between sending and noting: of the first two nobody notes anything.
    const ledger = wrapLedger(scene.ledger, {
      outbox: {
        endDeliveries: (ends) => {
          notes += 1;
          return notes === 1 ? Promise.reject(new Error("died")) : scene.ledger.outbox.endDeliveries(ends);
        },
      },
    });
    const errors: unknown[] = [];
    const over = { ledger, concurrency: 2, holdMs: HOUR_MS, onError: (error: unknown) => errors.push(error) };
    scene.deliver({ channels: [channel], ...over });
    await scene.until(() => channel.told.length === 4);
    await scene.until(async () => (await scene.ledger.outbox.nextDeliveryAt(channel.name)) !== undefined);
    await scene.clock.advance(HOUR_MS - 60_000);
    expect(channel.told).toHaveLength(4);
    await scene.clock.advance(60_000);
    await scene.until(() => channel.told.length === 6);
    await scene.until(async () => (await scene.ledger.outbox.nextDeliveryAt(channel.name)) === undefined);
    const times = channel.told.map(({ id }) => channel.told.filter((other) => other.id === id).length);
    expect(times.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 2, 2, 2]);
    expect(errors.map(String)).toEqual(["Error: died", "Error: died"]);
  });

  test("a record that cannot be read does not keep those from being told that were taken with it", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    for (const key of ["a", "b", "c"]) await scene.pay(key);
    const { journal } = scene.ledger;
    const [, bad] = (await journal.records({ after: 0, limit: 10 })).map(({ seq }) => seq);
    const ledger = wrapLedger(scene.ledger, {
      journal: {
        recordsAt: (seqs) =>
          seqs.includes(bad ?? 0) ? Promise.reject(new Error("torn")) : journal.recordsAt(seqs),
      },
    });
    const errors: unknown[] = [];
    scene.deliver({ channels: [channel], ledger, onError: (error) => errors.push(error) });
    await scene.until(() => channel.told.length === 2 && scene.failures.length > 0);
    expect(new Set(channel.told.map(({ about }) => about.args["to"]))).toEqual(new Set(["a", "c"]));
    expect(new Set(scene.failures.map(({ sequence }) => sequence))).toEqual(new Set([bad]));
    expect(errors).not.toEqual([]);
  });

  test("at the usual settings that is within 30 s, and longer than an attempt may take", async () => {
    const { holdMs, timeoutMs } = DEFAULT_DELIVERY_SETTINGS;
    expect(holdMs).toBeGreaterThan(timeoutMs);
    const scene = await createScene();
    const channel = new Recorder();
    await openChannel(scene, channel);
    await scene.pay("bob");
    await scene.ledger.outbox.enqueue({ channel: channel.name, from: 0, to: 1, seqs: [1] });
    const takenAt = scene.clock.now();
    expect(await scene.ledger.outbox.takeDeliveries(channel.name, { limit: 1, holdMs })).toHaveLength(1);
    scene.deliver({ channels: [channel] });
    await scene.until(() => channel.told.length === 1);
    expect(scene.clock.now() - takenAt).toBeLessThanOrEqual(30_000);
  });

  test("a channel that breaks is tried again, and its error is reported", async () => {
    const scene = await createScene();
    const errors: unknown[] = [];
    const channel = new Recorder();
    const broken = new Error("a bug");
    channel.answer = () => Promise.reject(broken);
    await openChannel(scene, channel);
    await scene.pay("bob");
    scene.deliver({ channels: [channel], firstRetryMs: 100, onError: (error) => errors.push(error) });
    await scene.until(() => channel.told.length === 1);
    channel.answer = async () => ({ ok: true });
    await scene.until(() => channel.told.length === 2);
    expect(errors).toEqual([broken]);
  });

  test("stopping waits for messages being sent, and the next process sends unfinished ones at once", async () => {
    const scene = await createScene();
    const channel = new Recorder();
    channel.answer = (_notice, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(DOWN)));
    await openChannel(scene, channel);
    await scene.pay("bob");
    const deliveries = scene.deliver({ channels: [channel], firstRetryMs: HOUR_MS });
    await scene.until(() => channel.told.length === 1);
    let isStopped = false;
    const stopping = deliveries.stop().then(() => {
      isStopped = true;
    });
    await scene.clock.advance(1_000);
    expect(isStopped).toBe(false);
    await scene.until(() => isStopped);
    await stopping;
    const next = new Recorder();
    scene.deliver({ channels: [next] });
    await scene.until(() => next.told.length === 1);
    expect(next.told[0]?.id).toBe(channel.told[0]?.id);
  });

  test("two channels of one name are refused", async () => {
    const scene = await createScene();
    expect(() => scene.deliver({ channels: [new Recorder(), new Recorder()] })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });
});
