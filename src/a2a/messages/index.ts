/**
 * A2A messages: how a question, an answer and a refusal look on the wire. Decided here: which parts of a message are
 * answers and which are text; which form a pause has (approvals, questions, as ADK or kagent write it); and which A2A
 * error a refusal becomes. Nothing here reads or writes the ledger, and nothing here decides who may answer.
 */

export { noTask, refused, toA2aError, unsupported } from "./errors.ts";
export { type Incoming, readIncoming } from "./incoming.ts";
export { dataPart, type MessageDraft, type MessagePlace, textPart, toMessage } from "./messages.ts";
export {
  askOf,
  dataPartRequest,
  hitlRequest,
  isQuestion,
  isSettleNotice,
  pauseNow,
  pausesOf,
  unknownNotice,
} from "./pause.ts";
