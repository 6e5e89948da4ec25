import { createSiem } from "../../../src/channels/siem/index.ts";
import { type Clock, Engine, type Ledger, systemClock } from "../../../src/engine/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { wrapLedger } from "../../support/ledger/ledger-proxy.ts";
import type { Line } from "../../support/processes/child.ts";
import { programOptions, say } from "../../support/processes/program.ts";

/** How the program is started. */
export interface ExporterOptions {
  readonly ledger: string;
  readonly file: string;
  /** The questions that it asks first. */
  readonly keys: readonly string[];
  /** It kills itself at this write of its place, counted from 1. */
  readonly dieAt?: { readonly write: number; readonly when: "before" | "after" };
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
}

/** What it says to the test. */
export type ExporterLine = (Line & { readonly type: "delivered" }) | (Line & { readonly type: "failed" });

const { ledger: path, file, keys, dieAt, aheadMs = 0 } = programOptions() as ExporterOptions;
const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
const ledger = await createLedger(`sqlite:${path}`, { clock });
const pay = new Engine({ ledger, clock }).gate("pay", { requireConfirmation: true }, async () => 1);
for (const key of keys) await pay({ to: key }, { key, by: { id: "ana" } });
createSiem({ ledger: dying(ledger), file, clock }).start({
  onAttempt: (type) => say({ type }),
});

function dying(inner: Ledger): Ledger {
  let writes = 0;
  return wrapLedger(inner, {
    items: {
      async put(item, read) {
        writes += 1;
        const isLast = dieAt?.write === writes;
        if (isLast && dieAt.when === "before") process.kill(process.pid, "SIGKILL");
        const isPut = await inner.items.put(item, read);
        if (isLast) process.kill(process.pid, "SIGKILL");
        return isPut;
      },
    },
  });
}
