/**
 * JSON-RPC as MCP speaks it, read strictly.
 * Decided here: which messages of a client are well formed, how large one may be, and which methods take which parameters;
 * which code a failure has on the wire;
 * and that a gated tool is not offered as a task.
 * Nothing here knows about approvals.
 */

export {
  type ClientAnswer,
  type ClientMessage,
  type ClientNotification,
  type ClientRequest,
  MOST_BYTES,
  type Refusal,
  readClientMessage,
  toClientMessage,
  toWire,
} from "./client-message.ts";
export {
  errorMessage,
  fieldsOf,
  isRequestId,
  objectOf,
  type RequestId,
  RPC_CODES,
  textOf,
  toErrorMessage,
} from "./json-rpc.ts";
export { withoutTasks } from "./without-tasks.ts";
