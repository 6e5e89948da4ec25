import type { StoredEvent } from "../protocol/index.ts";
import { activityOf } from "./activity.ts";
import type { RunContext } from "./run-context.ts";
import type { PassingEvent } from "./run-feed.ts";

export interface WatchedRun {
  readonly session: string;
  readonly invocation: string;
  /** Events up to here are known to whoever watches. */
  readonly after: number;
  /** Text in pieces, too. */
  readonly pieces: boolean;
}

/** What happens in a run: stored events in order, and what passes, each where it belongs among them. */
export type RunEvent = { readonly kind: "stored"; readonly event: StoredEvent } | PassingEvent;

/**
 * Follows a run until nothing more happens without a person. Leaving the loop only stops the watching: the
 * run goes on. What happens in other processes is seen as well.
 */
export async function* watchRun(run: RunContext, watched: WatchedRun): AsyncGenerator<RunEvent> {
  const { session, invocation } = watched;
  const { ledger } = run.engine;
  const passing: PassingEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const nudge = (): void => wake.resolve();
  const stopFeed = run.feed.subscribe(
    session,
    (event) => {
      passing.push(event);
      nudge();
    },
    { pieces: watched.pieces },
  );
  const stopChanges = ledger.onChange(nudge);
  try {
    for (let after = watched.after; ; ) {
      wake = Promise.withResolvers<void>();
      // Asked before the events are read: whatever ended the run is then among them.
      const activity = await activityOf(ledger, session, invocation);
      const stored = await ledger.events(session, { after });
      for (const event of stored) {
        yield* takePassing(passing, after);
        after += 1;
        if (event.invocationId === invocation) yield { kind: "stored", event };
      }
      yield* takePassing(passing, after);
      if (activity !== "active" && stored.length === 0 && !run.answering.has(session)) return;
      if (stored.length === 0) await wake.promise;
    }
  } finally {
    stopFeed();
    stopChanges();
  }
}

function* takePassing(passing: PassingEvent[], after: number): Generator<PassingEvent> {
  while (passing[0] !== undefined && passing[0].after <= after) yield passing.shift() as PassingEvent;
}
