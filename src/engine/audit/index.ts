/**
 * The proof that the journal was not changed: checkpoints, verification, erasure.
 * Decided here: when a checkpoint is written and what it covers; what `audit verify` accepts and how it names a fault;
 * which content may be missing (only what a record of the chain says was erased);
 * and which sessions are pruned.
 * Verification reads the ledger and trusts none of it.
 */

export { ChainWalk } from "./chain-walk.ts";
export {
  type AuditParts,
  hasCheckpoint,
  headText,
  type KnownSeal,
  parseHead,
  seal,
  toAuditParts,
} from "./checkpoints.ts";
export { findSessionKey } from "./find-session.ts";
export { type PruneListener, prune } from "./prune.ts";
export { diaryRows, isPrunedPlace, type PrunedJournal, type PrunedSummary, prunedBy } from "./pruned.ts";
export { type Fault, type Verification, type VerifyOptions, verify } from "./verify.ts";
export { type SessionVerification, verifySession } from "./verify-session.ts";
