/**
 * What happened, in the order of commits: the records, their hash chain, and who reads them.
 * A record is written in the same commit as the change that it tells of.
 * Decided here: how records are hashed into a chain; how readers page through the journal and go on after a gap;
 * what an outbox entry is; and what is shown of a message that no channel could deliver.
 * Nothing here changes the state of a call.
 */

export {
  CHAIN_START,
  type ChainHasher,
  chainHasher,
  checkpointHash,
  foldRoot,
  lostBefore,
  recordHash,
  sealedBefore,
} from "./chain.ts";
export { journalRecords } from "./journal-records.ts";
export type { Delivery, DeliveryEnd, Outbox } from "./outbox.ts";
export { type JournalPlace, recordsAfter } from "./records-after.ts";
export { findGivenUp, type GivenUpDelivery, listGivenUp, notGivenUp } from "./undelivered.ts";
