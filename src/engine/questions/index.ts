/**
 * Questions to people: how one is asked, asked again, closed and withdrawn. A confirmation is one question about one
 * call; a call can have several, one after another. Decided here: what a question binds (call, tool, arguments,
 * definition) and how that is signed; which question an id names; what a payload must look like; how a question ends
 * without an approval; how many may be open. Decisions are judged in `decisions/`.
 */

export { announce } from "./announce.ts";
export {
  type AskedCall,
  defaultHint,
  forOneCall,
  hintForPeople,
  newConfirmation,
  type Question,
  type QuestionEscalation,
  signedQuestion,
  writeQuestions,
} from "./ask.ts";
export { takeBack, writeSuccessor } from "./ask-again.ts";
export { checkedAsk, checkedName } from "./ask-options.ts";
export { type Closed, subjectOf, voteBody, writeClosing, writeClosingEvent } from "./close-question.ts";
export {
  type Confirmation,
  type ConfirmationDecision,
  type ConfirmationSettlement,
  type ConfirmationSighting,
  type ConfirmationSubject,
  type ConfirmationVote,
  decidingVote,
  type RequirementProgress,
  rightsOf,
  toConfirmation,
} from "./confirmation.ts";
export { questionIsGenuine, type VotedOn, voteIsGenuine, voteMac } from "./decision-mac.ts";
export { expire, writeExpiry } from "./expire.ts";
export { firstQuestion } from "./first-question.ts";
export {
  AppOpenLimit,
  MAX_OPEN_PER_SERVER,
  openRoom,
  tooManyAsked,
  tooManyOpen,
} from "./limits/open-limit.ts";
export { Quota, type QuotaLimits, type Reserved, type Usage } from "./limits/quota.ts";
export { UserOpenLimit } from "./limits/user-open-limit.ts";
export { writeMayHaveRun, writeUnknown } from "./mark-unknown.ts";
export { judgePayload, type PayloadOutcome } from "./payload.ts";
export { judgePayloadHere } from "./payload-here.ts";
export { readConfirmation, readPending } from "./read-confirmations.ts";
export { noteSighting, type Seen } from "./see.ts";
export { escalateFrom, stricterTerms } from "./stricter-terms.ts";
export { withdrawTurn } from "./withdraw-turn.ts";
export { writeWithdrawal } from "./write-withdrawal.ts";
