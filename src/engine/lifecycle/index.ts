/**
 * The states of calls, confirmations and frames, and the moves between them. The tables are complete: any other
 * transition is refused. Decided here: which command leads from which status to which; which statuses are final; and
 * the single status that people see, computed from call and confirmation. Pure functions, without any I/O.
 */

export {
  CALL_TRANSITIONS,
  type CallCommand,
  type ConfirmationCommand,
  callAfter,
  checkFirst,
  confirmationAfter,
  type FrameCommand,
  frameAfter,
  isAnswered,
  isFrameOver,
  mayHaveRun,
  nextCall,
  nextConfirmation,
  type ShownStatus,
  shownStatus,
} from "./lifecycle.ts";
