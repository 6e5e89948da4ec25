/**
 * Grants: an approval that also lets further calls of the same kind run without asking again. Decided here: how far a
 * grant may go (never further than every rule that asks allows); whether one lets this call run, and what it has left;
 * how amounts are added up, exactly; what is signed; who may revoke one. A grant is minted, used and revoked in the
 * document of its session, or in an item of its own if it is across sessions: either way a use and the start of its call
 * are one commit. If anything is unclear, a person is asked.
 */

export { unmetBy } from "./conditions.ts";
export { grantStops } from "./grant-stops.ts";
export { flawOfLimits, type GrantTerms, readTerms, sameLimits, tightest } from "./limits.ts";
export { type Grant, type GrantStatus, listGrants, toGrant } from "./list.ts";
export { hasRoomForGrant, mintGrant } from "./mint.ts";
export { refundGrant } from "./refund.ts";
export {
  revokeAll,
  revokeAllIn,
  revokeAllShared,
  revokeErased,
  revokeGrant,
  revokeGrantsFor,
  revokeGrantsOf,
} from "./revoke.ts";
export {
  addShared,
  addSharedFrom,
  addSharedOf,
  readShared,
  type SharedGrants,
  sharedGrant,
} from "./shared.ts";
export { useGrant } from "./use.ts";
