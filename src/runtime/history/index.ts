/**
 * What has been said: the session as the model, the client and the author see it.
 * Decided here: which events an agent sees (its branch only), and in which order answers follow calls;
 * what an open call looks like to the model; what imported events may claim;
 * what of a call's arguments is shown; and what came of a message so far.
 * Nothing here writes, except sessions that a client makes or imports.
 */

export { isNested, isolatedBranch, isVisible } from "./history.ts";
export { refuseCalls } from "./imported.ts";
export { buildPrompt, deniedCalls, type Prompt } from "./prompt.ts";
export { redactCalls } from "./redact-calls.ts";
export { SessionNames } from "./session-names.ts";
export { type Session, Sessions } from "./sessions.ts";
export { spokenText, type Turn, toTurn, type UnknownCall } from "./turn.ts";
