/**
 * Who acts, and what they may do.
 * A principal comes from the authentication layer or the host program, never from a message.
 * Decided here: who may decide, withdraw and settle (only `authority` answers it); which votes count
 * and what they decide (`tally`);
 * who may see a question (viewers); and how people log in to the servers of a ledger.
 * Rules are judged on stored rows, so every way in gives the same answer.
 */

export {
  type Counting,
  isRequester,
  isVouched,
  mayApprove,
  mayApproveForSelf,
  mayDecide,
  mayEverDecide,
  mayJudge,
  mayWithdraw,
  personOf,
  type Ruled,
  type Voter,
  withoutRight,
} from "./authority.ts";
export {
  type DelegationScope,
  isWithinScope,
  type Scoped,
  type VoteDelegation,
} from "./delegation.ts";
export { type Directory, loginsOf, NO_DIRECTORY } from "./directory.ts";
export { dueAt } from "./due.ts";
export { LOGIN_MODES, type LoginMode, loginModeOf, type StoredLogin, setLoginMode } from "./login-mode.ts";
export {
  ANYBODY,
  type Approvers,
  askerOf,
  isAnybody,
  type Principal,
  type PrincipalInput,
  type PrincipalKind,
  toPrincipal,
} from "./principal.ts";
export {
  addUp,
  isPartOf,
  oneApproval,
  type Requirement,
  sameEscalation,
  stillRequired,
} from "./requirement.ts";
export { userOfCaller, userOfSession } from "./session-user.ts";
export {
  approvedWith,
  type Ballot,
  denialsNeeded,
  type FreePlace,
  freePlace,
  givenBy,
  isOnePerson,
  type Tally,
  tally,
  voterOn,
  votesFor,
} from "./tally.ts";
export { isAgentsOwn, ruleOfSettling, ruleWithoutQuestion } from "./unasked.ts";
export { type DelegatedView, looksAsRequester, viewersOf, viewsAs, viewsForOthers } from "./viewers.ts";
