/**
 * Frames: one activation of one agent, with its current turn. A run is a tree of frames; a pause at any depth is a row
 * that waits. Decided here: when a frame may continue (its last open call was answered); how a call's answer is
 * written; how a frame starts others and what it returns to its parent; and what this process caches of a session that
 * it has just written.
 */

export {
  cancelledAnswer,
  deniedAnswer,
  EXPIRED_ANSWER,
  toResponse,
  wordingOf,
  writeAnswer,
  writeProgress,
  writeResult,
} from "./answer.ts";
export { cacheRest, stepReadyFrames } from "./continue-session.ts";
export {
  askedBy,
  type ChildInput,
  type FrameEnd,
  finishFrame,
  isOurs,
  knownStep,
  newFrame,
  newFrameId,
  spawnFrames,
} from "./frames.ts";
export { historyOf } from "./history-of.ts";
export { RestingSessions } from "./resting-sessions.ts";
export { type Rest, SessionCache } from "./session-cache.ts";
