/**
 * Delegations: a person lets another one vote for them while they are away. Decided here: who may make and revoke one,
 * and which of the stored ones are in force. What a delegation means for votes is decided in `people`. Each is an item of the
 * ledger, signed if there is a secret; making and revoking one is journalled in the same commit, and so is every vote
 * that relies on it: that commit is refused if the delegation was revoked in the meantime.
 */

export { type Delegated, toDelegated } from "./item.ts";
export { makeDelegation, type NewDelegation } from "./make.ts";
export { allDelegations, countingFor, relyOnDelegations } from "./read.ts";
export { revokeAllDelegations, revokeDelegation } from "./revoke.ts";
