/**
 * Client messages. Decided here: which parts of a message are answers and which are text; what happens to text beside
 * answers; how a provider in this process answers; which request headers a run carries; and what a decision returns to
 * its sender. Decisions themselves are in `engine/decisions`.
 */

export { eventsAfter, turnAfter } from "./after-submission.ts";
export { answerInProcess } from "./answer-in-process.ts";
export type { RefusedAnswer } from "./answers.ts";
export { decisionResult } from "./decision-result.ts";
export { sendWaitingFollowUps } from "./follow-up.ts";
export { ReadMessage } from "./read-message.ts";
export { type HeaderSource, NO_HEADERS, RequestHeaders } from "./request-headers.ts";
export { type SubmitInput, sayer, submit } from "./submit.ts";
