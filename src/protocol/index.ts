/**
 * The wire format: events, answers, JSON, error codes. Decided here: what a well-formed event and answer is, in each dialect
 * (ADK, adk-rs, kagent); which JSON is accepted; which names are reserved; and what each error code means. Pure functions.
 */

export { canonicalJson } from "./canonical-json.ts";
export { type AdkAnswer, encodeAdkAnswer } from "./codecs/adk/answer.ts";
export { parseEnvelope } from "./codecs/adk/content.ts";
export { parseEvent } from "./codecs/adk/event.ts";
export { decodeAdkRequest, encodeAdkEvent } from "./codecs/adk/request.ts";
export { decodeAdkRsRequest, encodeAdkRsEvent } from "./codecs/adk-rs/request.ts";
export type { Answer } from "./codecs/answer-shape.ts";
export {
  type AnsweredConfirmation,
  type DecodedAnswers,
  decodeAnswers,
  type RefusedPart,
} from "./codecs/answers.ts";
export { encodeEvent, isWire, type Wire } from "./codecs/codec.ts";
export {
  type AskUserRequest,
  decodeAskUserRequest,
  decodeAskUserResponse,
  encodeAskUserRequest,
  type UserQuestion,
} from "./codecs/kagent/ask-user.ts";
export {
  type DataPart,
  type DataPartDecision,
  decodeDecisionData,
  encodeDataPart,
  type OpenQuestion,
} from "./codecs/kagent/data-part.ts";
export {
  type HitlEnvelope,
  KAGENT_HITL_EXTENSION,
  readHitlPayload,
  toHitlEnvelope,
} from "./codecs/kagent/hitl-v1.ts";
export {
  decodeToolApprovalRequest,
  decodeToolApprovalResponse,
  encodeToolApprovalRequest,
  type NestedPause,
  type ToolApproval,
  type ToolApprovalRequest,
} from "./codecs/kagent/tool-approval.ts";
export type {
  ConfirmationRequest,
  Content,
  FunctionCall,
  FunctionResponse,
  Part,
  ToolConfirmation,
} from "./content.ts";
export { CountersignError } from "./countersign-error.ts";
export { type DisplayTextOptions, displayText } from "./display-text.ts";
export { ERROR_CODES, type ErrorCode } from "./error-code.ts";
export type {
  ConfirmationAsk,
  ConfirmationClosing,
  Event,
  EventActions,
  Imported,
  StoredEvent,
} from "./event.ts";
export { flawOfGlob, globOf } from "./glob.ts";
export { importedBy } from "./imported.ts";
export {
  DEFAULT_JSON_DEPTH,
  isJsonArray,
  isJsonObject,
  type JsonCheck,
  type JsonObject,
  type JsonText,
  type JsonValue,
  MAX_JSON_DEPTH,
  member,
  parseJson,
  toJsonValue,
} from "./json.ts";
export { originalCallFrom } from "./original-call.ts";
export type { Parsed, Unreadable } from "./parsed.ts";
export { type Problem, toProblem } from "./problem.ts";
export {
  isReservedName,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  RESERVED_NAMES,
} from "./reserved-names.ts";
