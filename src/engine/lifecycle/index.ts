/**
 * The states of calls, confirmations and frames, and the moves between them.
 * The tables are the whole truth: a move that is not in them is refused.
 * Decided here: which command leads from which status to which;
 * what counts as over; and the one status that people see, derived from call and confirmation.
 * Pure functions, without any I/O.
 */

export {
  CALL_TRANSITIONS,
  type CallCommand,
  CONFIRMATION_TRANSITIONS,
  type ConfirmationCommand,
  callAfter,
  checkFirst,
  confirmationAfter,
  type FrameCommand,
  frameAfter,
  isAnswered,
  isFrameOver,
  nextCall,
  nextConfirmation,
  type ShownStatus,
  shownStatus,
} from "./lifecycle.ts";
