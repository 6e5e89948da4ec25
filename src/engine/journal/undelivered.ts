import { CountersignError } from "../../protocol/index.ts";
import type { Ledger, Page, PageRequest } from "../ledger/index.ts";
import type { Delivery } from "./outbox.ts";
import { parseEntry } from "./parse-entry.ts";
import { entrySubject } from "./read-entry.ts";

/** A message that could not be delivered, and what it was about. */
export interface FailedDelivery {
  readonly channel: string;
  /** The number of its journal record; together with the channel it identifies the message. */
  readonly sequence: number;
  /** The kind of the journal record, such as `confirmation-requested`. */
  readonly kind: string;
  /** What it is about; both are absent after the session was erased. */
  readonly confirmation?: string;
  readonly call?: string;
  readonly tool?: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Times are ISO 8601: when it was first due, or was last retried by a person. */
  readonly since: string;
  readonly failedAt: string;
  /** The last error. */
  readonly reason: string;
}

type Outboxed = Pick<Ledger, "outbox" | "journal">;

/** The failed deliveries of every channel there ever was, also of those that no process has any more. */
export async function listFailedDeliveries(
  ledger: Outboxed,
  request?: PageRequest,
): Promise<Page<FailedDelivery>> {
  const page = await ledger.outbox.deadDeliveries(request);
  const items = await Promise.all(page.items.map((delivery) => describe(ledger, delivery)));
  return page.next === undefined ? { items } : { items, next: page.next };
}

/** One of those; undefined where there is none, or none any more. */
export async function findFailedDelivery(
  ledger: Outboxed,
  { channel, sequence }: Pick<FailedDelivery, "channel" | "sequence">,
): Promise<FailedDelivery | undefined> {
  const delivery = await ledger.outbox.deadDelivery(channel, sequence);
  return delivery === undefined ? undefined : describe(ledger, delivery);
}

/** The error for a delivery that is not among the failed ones. */
export function noFailedDelivery({
  channel,
  sequence,
}: Pick<FailedDelivery, "channel" | "sequence">): CountersignError {
  return new CountersignError(
    "unknown-delivery",
    `There is no undelivered message ${sequence} for the channel "${channel}". It was sent, is being retried, or never existed.`,
    { details: { channel, sequence } },
  );
}

async function describe(
  ledger: Pick<Ledger, "journal">,
  { channel, seq, attempt, since, deadAt = since, error = "" }: Delivery,
): Promise<FailedDelivery> {
  const [record] = await ledger.journal.records({ after: seq - 1, until: seq, limit: 1 });
  const entry = record && parseEntry(record);
  return {
    channel,
    sequence: seq,
    kind: record?.kind ?? "",
    // If a record was erased or cannot be read, nothing more is shown.
    ...(entry?.state === "readable" ? entrySubject(entry) : {}),
    attempts: attempt,
    since: new Date(since).toISOString(),
    failedAt: new Date(deadAt).toISOString(),
    reason: error,
  };
}
