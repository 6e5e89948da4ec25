/**
 * What happened, in the order of commits: the records, their hash chain, and who reads them.
 * A record is written in the same commit as the change that it describes.
 * Decided here: which kinds of records there are and what each says; how records are hashed into a chain; how readers
 * page through the journal and continue after a gap; what an outbox entry is; what is shown of an undelivered message.
 * Nothing here changes the state of a call.
 */

export type {
  AboutQuestion,
  ActedBy,
  BodyOf,
  JournalBodies,
  JournalEntry,
  JournalKind,
  LateEnd,
  PrunedSession,
  VoteCast,
} from "./bodies.ts";
export {
  CHAIN_START,
  type ChainHasher,
  chainHasher,
  checkpointHash,
  foldRoot,
  lostBefore,
  rowHash,
  sealedBefore,
} from "./chain.ts";
export type { Journal, JournalRange, NewestRange, ReadLine, SealedUpon } from "./journal.ts";
export { LineSum, type LinesLeft } from "./line-sum.ts";
export {
  commitsBetween,
  eventId,
  eventsOf,
  eventText,
  MOST_RECORDS,
  positionOf,
  recordsOf,
  rowAt,
  rowBody,
} from "./log-row.ts";
export { logPages, logRows } from "./log-rows.ts";
export { isMentioned, mentionsIn } from "./mentions.ts";
export type { Delivery, DeliveryAttempt, DeliveryEnd, EndedDelivery, Outbox } from "./outbox.ts";
export { isJournalKind, parseEntry } from "./parse-entry.ts";
export { type EntryTable, entrySubject, readEntry } from "./read-entry.ts";
export { type JournalPlace, recordsAfter } from "./records-after.ts";
export {
  type FailedDelivery,
  findFailedDelivery,
  listFailedDeliveries,
  noFailedDelivery,
} from "./undelivered.ts";
