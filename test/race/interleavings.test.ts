import { expect, test } from "vitest";
import { Engine, type Ledger, ManualClock } from "../../src/engine/index.ts";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { CountersignError } from "../../src/protocol/index.ts";
import { createLedger, type LedgerOptions } from "../../src/stores/index.ts";
import { pointsOf } from "../crash/points.ts";
import { nextChange, wrapLedger } from "../support/ledger/ledger-proxy.ts";
import { useResources } from "../support/resources.ts";
import { ConversationHost } from "./conversation-host.ts";

const resources = useResources();

async function openLedger(options: LedgerOptions = {}): Promise<Ledger> {
  const ledger = await createLedger("memory:", options);
  resources.add(() => ledger.close());
  return ledger;
}

test("a decision that found its session busy, and learns too late that it was released, continues the turn", async () => {
  const ledger = await openLedger();
  const holder = new Engine({ ledger });
  const holding = new ConversationHost(holder, () => {});
  holder.host(holding);
  let foundBusy = 0;
  const decider = new Engine({
    ledger: wrapLedger(ledger, {
      async commit(commit) {
        const outcome = await ledger.commit(commit);
        if (outcome.ok || outcome.conflict !== "busy") return outcome;
        foundBusy += 1;
        // The holder lets go, and looks, before the decider reads the session again.
        await holding.letGo("s", "finish");
        return outcome;
      },
    }),
  });
  const stepped = new Promise<void>((resolve) => {
    decider.host(new ConversationHost(decider, () => resolve()));
  });
  const { confirmation = "" } = await holding.message("s", 0);
  await holding.message("s", 1);
  const receipt = await decider.deny(confirmation, { by: { id: "boss" } });
  expect(receipt.ok).toBe(true);
  expect(foundBusy).toBe(1);
  const snapshot = await ledger.load({ confirmation });
  expect(snapshot?.frame?.status, "somebody goes on").not.toBe("ready");
  await stepped;
});

test("a ledger that fails after a call was given back leaves it ready, and does not end the process", async () => {
  const ledger = await openLedger();
  let failing = false;
  let beats = 0;
  const engine = new Engine({
    // Never fresh, so that the lease is renewed between claim and body.
    leaseMs: 0.001,
    ledger: wrapLedger(ledger, {
      // Granted for the claim with time to spare; lost when it is renewed.
      owners: {
        beat(owner) {
          beats += 1;
          return beats === 1 ? ledger.owners.beat(owner, 60_000) : Promise.resolve(false);
        },
      },
      async commit(commit) {
        const outcome = await ledger.commit(commit);
        const gaveBack = commit.writes.some(
          (write) =>
            write.kind === "call-update" && write.from === "executing" && write.set.status === "ready",
        );
        failing ||= gaveBack;
        return outcome;
      },
      load(target) {
        if (!failing) return ledger.load(target);
        return Promise.reject(new CountersignError("ledger-busy", "locked by a test"));
      },
    }),
  });
  let entered = 0;
  const gate = engine.gate("pay", { requireConfirmation: true }, async () => {
    entered += 1;
    return null;
  });
  const opened = await gate({}, { key: "k", by: { id: "ana" } });
  const confirmation =
    opened.status === "pending" ? { ...opened.confirmation, call: opened.callId } : undefined;
  const receipt = await tryApprove(engine, confirmation?.id ?? "", { by: { id: "boss" } });
  expect(receipt.ok).toBe(true);
  for (;;) {
    const changed = nextChange(ledger);
    const [call] = await ledger.calls([confirmation?.call ?? ""]);
    if (call?.status === "ready") break;
    await changed;
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toBe(0);
});

test("an approval that was judged in time and reaches the ledger after the deadline is refused, and nothing runs", async () => {
  const clock = new ManualClock();
  const ledger = await openLedger({ clock });
  const engine = new Engine({
    clock,
    ledger: wrapLedger(ledger, {
      async commit(commit) {
        if (pointsOf(commit).has("approve")) await clock.advance(1_000);
        return ledger.commit(commit);
      },
    }),
  });
  let entered = 0;
  const gate = engine.gate("pay", { requireConfirmation: true, expiresInMs: 1_000 }, async () => {
    entered += 1;
    return null;
  });
  const opened = await gate({}, { key: "k", by: { id: "ana" } });
  const confirmation =
    opened.status === "pending" ? { ...opened.confirmation, call: opened.callId } : undefined;
  const refused = await tryApprove(engine, confirmation?.id ?? "", { by: { id: "boss" } });
  expect(refused).toMatchObject({ ok: false, code: "expired" });
  const [call] = await ledger.calls([confirmation?.call ?? ""]);
  expect(call?.status).toBe("expired");
  expect(entered).toBe(0);
});
