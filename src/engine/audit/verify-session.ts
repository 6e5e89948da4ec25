import { CHAIN_START } from "../journal/index.ts";
import type { AuditParts } from "./checkpoints.ts";
import { verifyChain } from "./verify-chain.ts";
import { sessionLimits } from "./verify-limits.ts";

/** What a check of one session's journal found. */
export interface SessionVerification {
  readonly ok: boolean;
  /** What this check could not have found, in sentences. */
  readonly cannotDetect: readonly string[];
}

/**
 * Checks the chain of one session, from its first record to the end that the session itself names. Does not read the
 * checkpoints, which cover all sessions. Says nothing of what is in it, so everyone may ask who may see one record of it.
 */
export async function verifySession(parts: AuditParts, key: string): Promise<SessionVerification> {
  // Under another secret every record would look forged.
  await parts.ready();
  const { chain = { n: 0, hash: CHAIN_START }, pruned } =
    (await parts.ledger.load({ sessionKey: key }))?.session ?? {};
  let faults = 0;
  await verifyChain(parts, { key, chain, pruned: pruned !== undefined, lastSeq: 0 }, () => {
    faults += 1;
  });
  return { ok: faults === 0, cannotDetect: sessionLimits(parts.keyed) };
}
