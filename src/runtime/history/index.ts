/**
 * History: the session as the model, the client and the author see it. Decided here: which events an agent sees (its
 * branch only), and in which order answers follow calls; what an open call looks like to the model; what imported
 * events may contain; which of a call's arguments are shown; and the result of a message so far. Nothing here writes,
 * except sessions that a client creates or imports.
 */

export { hideSecrets } from "./hide-secrets.ts";
export { isNested, isolatedBranch, isVisible } from "./history.ts";
export { refuseCalls } from "./imported.ts";
export { buildPrompt, deniedCalls, type Prompt } from "./prompt.ts";
export { redactCalls } from "./redact-calls.ts";
export { callIdsIn, secretsIn } from "./secrets-in.ts";
export { SessionNames } from "./session-names.ts";
export { type Session, Sessions } from "./sessions.ts";
export { spokenText, type Turn, toTurn, type UnknownCall } from "./turn.ts";
export { LONGEST_CALL_ID, UsedIds } from "./used-ids.ts";
