import type { Ledger } from "../../../src/engine/index.ts";

const HOLD_MS = 60_000;

/** Has a channel give up what it had to tell of these records. */
export async function giveUp(
  ledger: Ledger,
  { channel = "webhook", seqs, reason = "HTTP 500" }: FailedDeliveryInput,
): Promise<void> {
  const from = await ledger.outbox.channelPlace(channel);
  await ledger.outbox.enqueue({ channel, from, to: Math.max(from, ...seqs), seqs });
  for (const delivery of await ledger.outbox.takeDeliveries(channel, { limit: seqs.length, holdMs: HOLD_MS }))
    await ledger.outbox.endDelivery(delivery, { as: "dead", error: reason });
}

export interface FailedDeliveryInput {
  readonly channel?: string;
  readonly seqs: readonly number[];
  readonly reason?: string;
}

/** The records that ask somebody something. */
export async function requestsIn(ledger: Ledger): Promise<readonly number[]> {
  const records = await ledger.journal.records({ after: 0, limit: 1_000 });
  return records.filter(({ kind }) => kind === "confirmation-requested").map(({ seq }) => seq);
}
