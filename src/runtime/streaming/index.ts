/**
 * Watching a run: events as they are committed, and text as it comes.
 * Decided here: when a run is over for now, and what a watcher is given in which order.
 * A watcher reads the ledger; the pieces of a text come from this process's memory and are not stored.
 * Whoever stops watching stops nothing.
 */

export { type Activity, activityOf } from "./activity.ts";
export { RunFeed } from "./run-feed.ts";
export { type StreamEvent, toStream } from "./stream.ts";
export { type Collected, collectRun, type RunEvent, watchRun } from "./watch-run.ts";
