/**
 * Messages: what a client sends, taken apart.
 * Decided here: which parts of a message answer a question and which are words;
 * what happens when words stand beside answers; how a provider in this process answers;
 * which request headers travel with a run; and what a decision returns to its sender.
 * Decisions themselves are the engine's (`engine/decisions`).
 */

export { answerInProcess } from "./answer-in-process.ts";
export { type RefusedAnswer, refusedError } from "./answers.ts";
export { decisionResult } from "./decision-result.ts";
export { sendWaitingFollowUps } from "./follow-up.ts";
export { ReadMessage } from "./read-message.ts";
export { type HeaderSource, NO_HEADERS, RequestHeaders } from "./request-headers.ts";
export { type Submission, type SubmitInput, sayer, submit } from "./submit.ts";
