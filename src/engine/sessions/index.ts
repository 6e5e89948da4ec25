/**
 * Sessions and turns: how a message and a model's answer become rows.
 * A session is the unit of serialisation; each commit moves its version by one.
 * Decided here: whether a message may start a run now; which calls of a turn run at once and which wait;
 * how a run is cancelled; how a session is made, changed, deleted and listed;
 * and which requests repeat an earlier one.
 */

export { cancelRun, type RunToCancel } from "./cancel-run.ts";
export { type MessageInput, type MessageOutcome, receiveMessage, receiveOnce } from "./receive-message.ts";
export {
  changeState,
  createSession,
  deleteSession,
  eraseFinished,
  pruneSession,
  type SessionStart,
  useKey,
} from "./sessions.ts";
export { type CallPlan, type PlannedCall, recordTurn, type Turn, type TurnInput } from "./turns.ts";
