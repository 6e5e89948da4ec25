/**
 * Legal holds: what somebody ordered to be kept. Decided here: what a hold covers (a session, a person, an app), who
 * placed and released it, and that no content under a hold is erased: the commit that erases names the version of all
 * holds that it was judged on, so it is refused if a hold was placed in the meantime. Placing and releasing are journalled in the
 * same commit, in the diary of retention, which is never erased itself.
 */

export { actor, diaryDraft, isDiary, RETENTION_DIARY } from "./diary.ts";
export {
  endHolds,
  guardAgainstHolds,
  guardItem,
  holdOn,
  holdOnLogins,
  readGuard,
  underHold,
} from "./guard.ts";
export { type Hold, type HoldTarget, heldLogins } from "./hold.ts";
export { placeHold } from "./place.ts";
export { allHolds } from "./read.ts";
export { releaseHold } from "./release.ts";
