import type { Delivery } from "../../journal/outbox.ts";
import type { Ledger } from "../ledger.ts";
import { SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const CHANNEL = "webhook";
const HOLD_MS = 1_000;

/** A ledger whose channel has deliveries for these records. */
async function fill(ledger: Ledger, seqs: readonly number[], channel = CHANNEL): Promise<void> {
  const from = await ledger.outbox.channelPlace(channel);
  await ledger.outbox.enqueue({ channel, from, to: Math.max(from, ...seqs), seqs });
}

function take(ledger: Ledger, limit = 10): Promise<readonly Delivery[]> {
  return ledger.outbox.takeDeliveries(CHANNEL, { limit, holdMs: HOLD_MS });
}

function seqsOf(deliveries: readonly Delivery[]): readonly number[] {
  return deliveries.map(({ seq }) => seq);
}

export const outboxCases: readonly LedgerCase[] = [
  {
    name: "a new channel begins at the journal's end, and stays where it began",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      checkEqual(await ledger.outbox.channelPlace("early"), 0, "in an empty journal");
      await writer.commit([writer.journal("one"), writer.journal("two")]);
      const last = (await ledger.journal.records({ after: 0, limit: 10 })).at(-1)?.seq;
      checkEqual(await ledger.outbox.channelPlace("late"), last, "in one with records");
      await writer.commit([writer.journal("three")]);
      checkEqual(
        [await ledger.outbox.channelPlace("early"), await ledger.outbox.channelPlace("late")],
        [0, last],
        "later",
      );
    },
  },
  {
    name: "of many that move a channel's place from where they read it, one does, with all its deliveries",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      const other = await reopen();
      const from = await ledger.outbox.channelPlace(CHANNEL);
      const moved = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? ledger : other).outbox.enqueue({
            channel: CHANNEL,
            from,
            to: from + 3,
            seqs: [1, 3],
          }),
        ),
      );
      checkEqual(moved.filter(Boolean).length, 1, "winners");
      checkEqual(await other.outbox.channelPlace(CHANNEL), from + 3, "the place");
      checkEqual(seqsOf(await take(other)), [1, 3], "deliveries");
      const again = { channel: CHANNEL, from, to: from + 9, seqs: [9] };
      checkEqual(await ledger.outbox.enqueue(again), false, "from where it no longer is");
      checkEqual(await take(ledger), [], "of the one that was refused");
    },
  },
  {
    name: "a channel's place moves on only past a record that is there",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const from = await ledger.outbox.channelPlace(CHANNEL);
      await writer.commit([writer.journal("one")]);
      const [record] = await ledger.journal.records({ after: 0, limit: 1 });
      const { seq: to, hash } = record ?? { seq: 0, hash: "" };
      const batch = { channel: CHANNEL, from, to, seqs: [to] };
      checkEqual(await ledger.outbox.enqueue({ ...batch, hash: "another" }), false, "another of its number");
      checkEqual(await take(ledger), [], "of a record that is lost");
      checkEqual(await ledger.outbox.enqueue({ ...batch, hash }), true, "the record that was read");
      checkEqual(seqsOf(await take(ledger)), [to], "of the record");
    },
  },
  {
    name: "one taker has a delivery until its hold runs out, however many try",
    needs: "reopen",
    async run({ open, reopen, clock }) {
      const ledger = await open();
      const other = await reopen();
      await fill(ledger, [1, 2, 3, 4]);
      const since = clock.now();
      checkEqual(await ledger.outbox.nextDeliveryAt(CHANNEL), since, "due at once");
      const taken = await Promise.all([take(ledger, 2), take(other, 2), take(ledger, 2), take(other, 2)]);
      checkEqual(
        seqsOf(taken.flat()).toSorted((a, b) => a - b),
        [1, 2, 3, 4],
        "each once",
      );
      const first = taken.flat().find(({ seq }) => seq === 1);
      checkEqual(first, { channel: CHANNEL, seq: 1, attempt: 1, since }, "one of them");
      await clock.advance(HOLD_MS - 1);
      checkEqual(await take(other), [], "while they are held");
      checkEqual(await ledger.outbox.nextDeliveryAt(CHANNEL), since + HOLD_MS, "due again");
      await clock.advance(1);
      const again = await take(other);
      checkEqual(
        again.map(({ seq, attempt }) => [seq, attempt]),
        [
          [1, 2],
          [2, 2],
          [3, 2],
          [4, 2],
        ],
        "after the hold",
      );
      const late = { channel: CHANNEL, seq: 1, attempt: 1 };
      checkEqual(await ledger.outbox.endDelivery(late, { as: "delivered" }), false, "the first taker's word");
    },
  },
  {
    name: "of many takers at once none waits for another, and nobody is given what another has",
    needs: "reopen",
    async run({ open, reopen, clock }) {
      const ledger = await open();
      const other = await reopen();
      const seqs = Array.from({ length: 40 }, (_, i) => i + 1);
      await fill(ledger, seqs);
      const taken: number[] = [];
      // Whoever comes between two others may find less than there is.
      for (let rounds = 0; taken.length < seqs.length && rounds < 20; rounds += 1) {
        const takers = Array.from({ length: 8 }, (_, i) => take(i % 2 === 0 ? ledger : other, 5));
        taken.push(...(await Promise.all(takers)).flatMap(seqsOf));
      }
      checkEqual(
        taken.toSorted((a, b) => a - b),
        seqs,
        "each once",
      );
      checkEqual(await take(other), [], "while they are held");
      checkEqual(await ledger.outbox.nextDeliveryAt(CHANNEL), clock.now() + HOLD_MS, "due again");
    },
  },
  {
    name: "the ends of several are written together, and each is judged by itself",
    needs: "reopen",
    async run({ open, reopen, clock }) {
      const ledger = await open();
      const other = await reopen();
      await fill(ledger, [1, 2, 3, 4]);
      const first = await take(ledger);
      await clock.advance(HOLD_MS);
      const [again] = await take(other, 1);
      checkEqual([again?.seq, again?.attempt], [1, 2], "taken again");
      const ends = (["delivered", "delivered", "postponed", "dead"] as const).map((as, i) => ({
        attempt: first[i] ?? { channel: CHANNEL, seq: 0, attempt: 0 },
        end: as === "delivered" ? { as } : { as, forMs: 5_000, error: "HTTP 500" },
      }));
      const written = await ledger.outbox.endDeliveries(ends);
      checkEqual(
        written.map(({ seq }) => seq),
        [2, 3, 4],
        "written",
      );
      checkEqual(await ledger.outbox.endDeliveries(ends.slice(0, 2)), [], "written again");
      checkEqual(await ledger.outbox.endDeliveries([]), [], "none");
      checkEqual(
        await ledger.outbox.endDelivery({ channel: CHANNEL, seq: 1, attempt: 2 }, { as: "delivered" }),
        true,
        "by whoever holds it",
      );
      await clock.advance(5_000);
      checkEqual(seqsOf(await take(ledger)), [3], "left");
      checkEqual(seqsOf((await ledger.outbox.deadDeliveries()).items), [4], "failed");
    },
  },
  {
    name: "a delivery whose error looks like a member's name is taken and counted like any other",
    async run({ open, clock }) {
      const ledger = await open();
      await fill(ledger, [1]);
      for (const [at, error] of ["attempt", "nextAt", "x"].entries()) {
        const [taken] = await take(ledger);
        checkEqual(taken?.attempt, at + 1, "attempt");
        if (taken !== undefined) await ledger.outbox.endDelivery(taken, { as: "postponed", forMs: 1, error });
        await clock.advance(1);
      }
      checkEqual(await ledger.outbox.nextDeliveryAt(CHANNEL), clock.now(), "due");
    },
  },
  {
    name: "what was delivered is gone, what was postponed comes back at its time with its error",
    async run({ open, clock }) {
      const ledger = await open();
      await fill(ledger, [1, 2]);
      const [first, second] = await take(ledger);
      if (first === undefined || second === undefined) throw new Error("Two deliveries are due.");
      checkEqual(await ledger.outbox.endDelivery(first, { as: "delivered" }), true, "delivered");
      checkEqual(await ledger.outbox.endDelivery(first, { as: "delivered" }), false, "delivered again");
      const postponed = { as: "postponed", forMs: 5_000, error: "HTTP 500" } as const;
      checkEqual(await ledger.outbox.endDelivery(second, postponed), true, "postponed");
      await clock.advance(4_999);
      checkEqual(await take(ledger), [], "before its time");
      await clock.advance(1);
      checkEqual(await take(ledger), [{ ...second, attempt: 2, error: "HTTP 500" }], "at its time");
      const hold = { ...postponed, error: "Held.", isHold: true } as const;
      checkEqual(await ledger.outbox.endDelivery({ ...second, attempt: 2 }, hold), true, "held back");
      await clock.advance(5_000);
      const held = { ...second, attempt: 3, holds: 1, error: "Held." };
      checkEqual(await take(ledger), [held], "held back once");
      checkEqual(await ledger.outbox.endDelivery(held, { as: "delivered" }), true, "delivered");
      checkEqual(await ledger.outbox.nextDeliveryAt(CHANNEL), undefined, "afterwards");
    },
  },
  {
    name: "failed deliveries are listed by pages, never due, and due as new once it is revived",
    async run({ open, clock }) {
      const ledger = await open();
      await fill(ledger, [1, 2, 3]);
      for (const delivery of await take(ledger))
        await ledger.outbox.endDelivery(delivery, { as: "dead", error: "gone" });
      const deadAt = clock.now();
      await clock.advance(100_000);
      checkEqual([await take(ledger), await ledger.outbox.nextDeliveryAt(CHANNEL)], [[], undefined], "due");
      const first = await ledger.outbox.deadDeliveries({ limit: 2 });
      checkEqual(seqsOf(first.items), [1, 2], "first page");
      const dead = { channel: CHANNEL, seq: 1, attempt: 1, since: deadAt, deadAt, error: "gone" };
      checkEqual(first.items[0], dead, "one of them");
      const rest = await ledger.outbox.deadDeliveries({ limit: 2, cursor: first.next ?? "" });
      checkEqual([seqsOf(rest.items), rest.next], [[3], undefined], "second page");
      checkEqual(await ledger.outbox.deadDelivery(CHANNEL, 1), dead, "by its name");
      checkEqual(await ledger.outbox.reviveDelivery(CHANNEL, 2), true, "revived");
      checkEqual(await ledger.outbox.reviveDelivery(CHANNEL, 2), false, "revived again");
      checkEqual(await ledger.outbox.reviveDelivery(CHANNEL, 9), false, "one that is not there");
      checkEqual(await ledger.outbox.deadDelivery(CHANNEL, 2), undefined, "one that was revived");
      const since = clock.now();
      const revived = { channel: CHANNEL, seq: 2, attempt: 1, since, error: "gone" };
      checkEqual(await take(ledger), [revived], "taken");
      checkEqual(seqsOf((await ledger.outbox.deadDeliveries()).items), [1, 3], "left");
    },
  },
  {
    name: "channels know nothing of each other's deliveries",
    async run({ open }) {
      const ledger = await open();
      await fill(ledger, [1, 2]);
      await fill(ledger, [1], "slack");
      checkEqual(seqsOf(await take(ledger)), [1, 2], "of the one");
      const others = await ledger.outbox.takeDeliveries("slack", { limit: 10, holdMs: HOLD_MS });
      checkEqual(seqsOf(others), [1], "of the other");
      const [first] = others;
      if (first !== undefined) await ledger.outbox.endDelivery(first, { as: "dead", error: "x" });
      checkEqual(await ledger.outbox.deadDelivery(CHANNEL, 1), undefined, "dead of the one");
      checkEqual(await ledger.outbox.reviveDelivery(CHANNEL, 1), false, "revived in the one");
    },
  },
  {
    name: "failed deliveries are listed of every channel, one after the other, across pages",
    async run({ open }) {
      const ledger = await open();
      for (const channel of ["webhook", "pager", "slack"]) {
        await fill(ledger, [1, 2], channel);
        for (const delivery of await ledger.outbox.takeDeliveries(channel, { limit: 10, holdMs: HOLD_MS }))
          await ledger.outbox.endDelivery(delivery, { as: "dead", error: "gone" });
      }
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await ledger.outbox.deadDeliveries(
          cursor === undefined ? { limit: 3 } : { limit: 3, cursor },
        );
        found.push(...page.items.map(({ channel, seq }) => `${channel} ${seq}`));
        if (page.next === undefined) break;
        cursor = page.next;
      }
      const expected = ["pager 1", "pager 2", "slack 1", "slack 2", "webhook 1", "webhook 2"];
      checkEqual(found, expected, "all of them");
    },
  },
];
