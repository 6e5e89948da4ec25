import type { Page, PageRequest } from "../ledger/index.ts";

/** One message that a channel still has to send about one journal record, or that failed for good. */
export interface Delivery {
  readonly channel: string;
  /** The journal record: its place in the order of everything. */
  readonly seq: number;
  /** How often it was taken to be sent, this time included. */
  readonly attempt: number;
  /** How many of these attempts were held back; they are not failures. */
  readonly holds?: number;
  /** When it entered the outbox, or was put back into it. */
  readonly since: number;
  /** When it failed for good. */
  readonly deadAt?: number;
  /** Why it could not be sent the last time. */
  readonly error?: string;
}

/** How an attempt ended: sent, to be tried again after a delay, or failed for good. */
export type DeliveryEnd =
  | { readonly as: "delivered" }
  | { readonly as: "postponed"; readonly forMs: number; readonly error: string; readonly isHold?: true }
  | { readonly as: "dead"; readonly error: string };

/** Which attempt at which delivery. An attempt holds its delivery until the hold runs out and another one begins. */
export type DeliveryAttempt = Pick<Delivery, "channel" | "seq" | "attempt">;

/** An attempt, and how it ended. */
export interface EndedDelivery {
  readonly attempt: DeliveryAttempt;
  readonly end: DeliveryEnd;
}

/**
 * What channels have to send, at least once each, even if processes die. It is filled from the journal after the
 * commit, by compare-and-set, so that no decision writes to it and several processes can share the work. Times are
 * the ledger's.
 */
export interface Outbox {
  /**
   * How far a channel has read the journal. One that is new begins at the journal's end: it tells of nothing that
   * was before it.
   */
  channelPlace(channel: string): Promise<number>;
  /** The names of all channels there ever were, at most a few hundred. */
  channels(): Promise<readonly string[]>;
  /**
   * Moves the place on and puts a delivery for each of these records into the outbox, or neither. False: another
   * process has moved it since, or the record at `to` is not there any more. A database that crashed may have lost it, and
   * gives its number to another record, which must not be passed over.
   */
  enqueue(batch: {
    readonly channel: string;
    readonly from: number;
    readonly to: number;
    /** The hash of the record at `to`; without it, that is not checked. */
    readonly hash?: string;
    readonly seqs: readonly number[];
  }): Promise<boolean>;
  /**
   * Takes deliveries that are due, the longest due first. Nobody else is given them for `holdMs`; after that they are
   * due again, so that those of a process that died are sent by another.
   */
  takeDeliveries(
    channel: string,
    take: { readonly limit: number; readonly holdMs: number },
  ): Promise<readonly Delivery[]>;
  /** False: the hold ran out and another took it, so this attempt's end says nothing; nothing was written. */
  endDelivery(attempt: DeliveryAttempt, end: DeliveryEnd): Promise<boolean>;
  /** The same for several deliveries, in one write. Returns those that were written; each is judged by itself. */
  endDeliveries(ends: readonly EndedDelivery[]): Promise<readonly DeliveryAttempt[]>;
  /** When the next one is due; undefined while there is none. */
  nextDeliveryAt(channel: string): Promise<number | undefined>;
  /** Deliveries that failed for good, of every channel there ever was, by channel and then by record. */
  deadDeliveries(page?: PageRequest): Promise<Page<Delivery>>;
  /** One delivery that failed for good. */
  deadDelivery(channel: string, seq: number): Promise<Delivery | undefined>;
  /** Makes a failed delivery due again, as if it were new. False: there is no such failed delivery. */
  reviveDelivery(channel: string, seq: number): Promise<boolean>;
}
