/**
 * Watching a run: events as they are committed, and text as it comes. Decided here: when a run has stopped for now, and
 * what a watcher gets in which order. A watcher reads the ledger; pieces of text come from this process's memory and
 * are not stored. The run continues if nobody watches.
 */

export { type Activity, activityOf } from "./activity.ts";
export { Pace, type Waiting } from "./pace.ts";
export { RunFeed } from "./run-feed.ts";
export { type StreamEvent, toStream } from "./stream.ts";
export { type Collected, collectRun, type RunEvent, watchRun } from "./watch-run.ts";
