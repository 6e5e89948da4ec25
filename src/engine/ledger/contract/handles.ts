import type { Ledger } from "../ledger.ts";
import { SessionWriter } from "./build.ts";
import { checkEqual, checkRejected } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

/** Resolves at the listener's next call. */
function nextChange(ledger: Ledger): Promise<void> {
  return new Promise((resolve) => {
    const stop = ledger.onChange(() => {
      stop();
      resolve();
    });
  });
}

export const handleCases: readonly LedgerCase[] = [
  {
    name: "a listener is called after a commit of its own handle",
    async run({ open }) {
      const ledger = await open();
      const changed = nextChange(ledger);
      await new SessionWriter(ledger, "s1").commit();
      await changed;
    },
  },
  {
    name: "a listener is called after a commit of another handle, and after the next one",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      const writer = new SessionWriter(await reopen(), "s1");
      for (let i = 0; i < 3; i++) {
        const changed = nextChange(ledger);
        await writer.commit();
        await changed;
      }
    },
  },
  {
    name: "a listener that stopped is not called; the others are",
    async run({ open }) {
      const ledger = await open();
      let calls = 0;
      const stop = ledger.onChange(() => {
        calls += 1;
      });
      stop();
      stop();
      const changed = nextChange(ledger);
      await new SessionWriter(ledger, "s1").commit();
      await changed;
      checkEqual(calls, 0, "calls of the one that stopped");
    },
  },
  {
    name: "closing calls every listener once: who waits for a change looks again, and is told that it is closed",
    async run({ open }) {
      const ledger = await open();
      let calls = 0;
      ledger.onChange(() => {
        throw new Error("a listener's fault");
      });
      const stop = ledger.onChange(() => {
        calls += 1;
      });
      const changed = nextChange(ledger);
      await ledger.close();
      await changed;
      stop();
      checkEqual(calls, 1, "calls of a listener");
      await ledger.close();
      checkEqual(calls, 1, "calls after closing again");
    },
  },
  {
    name: "after close every method is refused as closed, and closing again is harmless",
    async run({ open }) {
      const ledger = await open();
      const commit = new SessionWriter(ledger, "s1").toCommit([], {});
      await ledger.close();
      await ledger.close();
      const uses: Record<string, () => Promise<unknown>> = {
        load: () => ledger.load({ sessionKey: "s1" }),
        loadAll: () => ledger.loadAll([{ call: "s1.c" }]),
        commit: () => ledger.commit(commit),
        calls: () => ledger.calls(["x"]),
        unanswered: () => ledger.unanswered("s1"),
        steps: () => ledger.steps("x"),
        events: () => ledger.events("s1"),
        state: () => ledger.state("s1"),
        sessions: () => ledger.sessions({ app: "bank" }),
        confirmations: () => ledger.confirmations({ state: "open" }),
        unknownCalls: () => ledger.unknownCalls(),
        beat: () => ledger.owners.beat({ id: "o", host: "h", pid: 1 }, 1),
        retire: () => ledger.owners.retire("o"),
        owner: () => ledger.owners.get("o"),
        due: () => ledger.due([], 1),
        liveFrames: () => ledger.liveFrames("s1"),
        journal: () => ledger.journal.records({ after: 0, limit: 1 }),
        recordsAt: () => ledger.journal.recordsAt([1]),
        chain: () => ledger.journal.sessionRecords("s1", { after: 0, limit: 1 }),
        streams: () => ledger.journal.streams("", 1),
        checkpoints: () => ledger.journal.checkpoints(0, 1),
        lastCheckpoint: () => ledger.journal.lastCheckpoint(),
        seal: () => ledger.journal.seal({ k: 1, lastSeq: 1, count: 1, root: "", hash: "", at: 1 }),
        idleSessions: () => ledger.sessions({ idleSince: 1 }, { limit: 1 }),
        remains: () => ledger.journal.remains("s1"),
        allSessions: () => ledger.sessions("all"),
        anonymise: () => ledger.anonymise("s1", new Map(), async () => undefined),
        tidy: () => ledger.tidy(),
        channelPlace: () => ledger.outbox.channelPlace("webhook"),
        enqueue: () => ledger.outbox.enqueue({ channel: "webhook", from: 0, to: 1, seqs: [1] }),
        takeDeliveries: () => ledger.outbox.takeDeliveries("webhook", { limit: 1, holdMs: 1 }),
        endDelivery: () =>
          ledger.outbox.endDelivery({ channel: "webhook", seq: 1, attempt: 1 }, { as: "delivered" }),
        endDeliveries: () =>
          ledger.outbox.endDeliveries([
            { attempt: { channel: "webhook", seq: 1, attempt: 1 }, end: { as: "delivered" } },
          ]),
        nextDeliveryAt: () => ledger.outbox.nextDeliveryAt("webhook"),
        deadDeliveries: () => ledger.outbox.deadDeliveries(),
        deadDelivery: () => ledger.outbox.deadDelivery("webhook", 1),
        reviveDelivery: () => ledger.outbox.reviveDelivery("webhook", 1),
      };
      for (const [method, use] of Object.entries(uses)) await checkRejected(use(), "closed", method);
    },
  },
];
