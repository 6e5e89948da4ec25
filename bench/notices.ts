import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Channel, startDeliveries } from "../src/channels/index.ts";
import { Engine, type Ledger } from "../src/engine/index.ts";
import { createLedger } from "../src/stores/index.ts";
import type { Options } from "./options.ts";
import { measureOutbox } from "./outbox.ts";
import type { Report } from "./report.ts";
import { median, pairedRatio } from "./statistics.ts";

const BATCH = 20;
const AT_ONCE = 250;
const SLOW_MS = 1_000;
/** What slows decisions or another channel by more than this is a fault. */
const GOAL = 1.5;

/** A ledger on which something waits, and how long decisions and another channel take there. */
interface Place {
  readonly decide: () => Promise<number>;
  readonly tell: () => Promise<number>;
  close(): Promise<void>;
}

/**
 * Many notices wait for a channel that is slow: do decisions and another channel notice it? Two copies of one ledger, in
 * turn; only one of them has the slow channel.
 */
export async function measureNotices(options: Options, folder: string, report: Report): Promise<void> {
  const count = options.quick ? 1_000 : 10_000;
  const file = join(folder, "notices.db");
  report.progress(`notices: asking ${count} questions`);
  await fill(file, count);
  copyFileSync(file, join(folder, "alone.db"));
  const alone = await openPlace(join(folder, "alone.db"), false);
  const beside = await openPlace(file, true);
  const taken = { decide: [[], []], tell: [[], []] } as { [what in "decide" | "tell"]: [number[], number[]] };
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      for (const what of ["decide", "tell"] as const) {
        const [plain, slow] = taken[what];
        plain.push(await alone[what]());
        slow.push(await beside[what]());
      }
    }
  } finally {
    await Promise.all([alone.close(), beside.close()]);
  }
  const rows = (["decide", "tell"] as const).map((what) => {
    const [plain, slow] = taken[what];
    const ratio = pairedRatio(slow, plain);
    const claim = what === "decide" ? "decisions" : "another channel";
    report.progress(`notices: ${claim} take ${ratio.toFixed(2)} times as long`);
    report.goal(
      `${count} notices for a slow channel do not delay ${claim}: at most ${GOAL} times`,
      ratio.toFixed(2),
      ratio <= GOAL ? "met" : "missed",
    );
    return [claim, median(plain).toFixed(2), median(slow).toFixed(2), ratio.toFixed(2)];
  });
  report.table(`${count} notices for a slow channel (ms each)`, ["what", "without", "with", "ratio"], rows);
  await measureOutbox(options, folder, report);
}

async function fill(file: string, count: number): Promise<void> {
  const ledger = await createLedger(`sqlite:${file}`);
  // The slow channel's place in the journal is before all questions, the other one's after them.
  await ledger.outbox.channelPlace("slow");
  const ask = asking(ledger);
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => ask(`filled-${from + n}`)));
  await ledger.outbox.channelPlace("fast");
  await ledger.close();
}

function asking(ledger: Ledger): (key: string) => Promise<string> {
  const engine = new Engine({ ledger });
  const gated = engine.gate("pay", { requireConfirmation: true }, async () => 1);
  return async (key) => {
    const asked = await gated({ to: key }, { key, by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    return asked.confirmation.id;
  };
}

async function openPlace(file: string, hasSlow: boolean): Promise<Place> {
  const ledger = await createLedger(`sqlite:${file}`);
  const engine = new Engine({ ledger });
  const ask = asking(ledger);
  let heard: (() => void) | undefined;
  const told = new Set<string>();
  const fast: Channel = {
    name: "fast",
    tell: async ({ about }) => {
      if ("id" in about) told.add(about.id);
      heard?.();
      return { ok: true };
    },
  };
  const slow: Channel = { name: "slow", tell: () => sleep(SLOW_MS).then(() => ({ ok: true }) as const) };
  const deliveries = startDeliveries({ ledger, channels: hasSlow ? [slow, fast] : [fast] });
  let asked = 0;
  const askSome = async (): Promise<readonly string[]> => {
    const keys = Array.from({ length: BATCH }, () => `asked-${asked++}`);
    return Promise.all(keys.map(ask));
  };
  return {
    async decide() {
      const ids = await askSome();
      const began = performance.now();
      for (const id of ids) await engine.deny(id, { by: { id: "ana" } });
      return (performance.now() - began) / BATCH;
    },
    async tell() {
      const began = performance.now();
      const ids = await askSome();
      while (!ids.every((id) => told.has(id))) {
        const { promise, resolve } = Promise.withResolvers<void>();
        heard = resolve;
        await Promise.race([promise, sleep(100)]);
      }
      return performance.now() - began;
    },
    async close() {
      await deliveries.stop();
      await ledger.close();
    },
  };
}
