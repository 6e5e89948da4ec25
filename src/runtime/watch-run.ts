import type { Ledger } from "../engine/index.ts";
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

/** Waits until nothing more happens in a run without a person, and gives all that was stored meanwhile. */
export async function collectRun(
  run: RunContext,
  watched: Omit<WatchedRun, "pieces">,
): Promise<readonly StoredEvent[]> {
  const { session, invocation, after } = watched;
  const { engine } = run;
  for (;;) {
    await engine.settledIn(session);
    const change = nextChange(engine.ledger);
    const activity = await activityOf(engine.ledger, session, invocation);
    if (activity !== "active" && !run.answering.has(session)) {
      change.forget();
      const events = await engine.ledger.events(session, { after });
      return events.filter((event) => event.invocationId === invocation);
    }
    // Another process has it, or a provider is being asked: its next commit is worth another look.
    await change.happened;
  }
}

function nextChange(ledger: Ledger): { readonly happened: Promise<void>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  const forget = ledger.onChange(() => {
    forget();
    resolve();
  });
  return { happened, forget };
}

/**
 * Follows a run until nothing more happens without a person. Leaving the loop only stops the watching: the
 * run goes on. What happens in other processes is seen as well.
 */
export async function* watchRun(run: RunContext, watched: WatchedRun): AsyncGenerator<RunEvent> {
  const { session, invocation, pieces } = watched;
  const { ledger } = run.engine;
  const passing: PassingEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let quiet = true;
  const nudge = (): void => {
    quiet = false;
    wake.resolve();
  };
  const stopFeed = run.feed.subscribe(session, { pieces }, (event) => {
    if (event.invocation !== invocation || (event.kind === "partial" && !pieces)) return;
    passing.push(event);
    nudge();
  });
  const stopChanges = ledger.onChange(nudge);
  try {
    for (let after = watched.after; ; ) {
      wake = Promise.withResolvers<void>();
      quiet = true;
      const beside = run.background.of(session);
      // Asked before the events are read: whatever ended the run is then among them.
      const activity = await activityOf(ledger, session, invocation);
      const stored = await ledger.events(session, { after });
      for (const event of stored) {
        yield* takePassing(passing, after);
        after += 1;
        if (event.invocationId === invocation) yield { kind: "stored", event };
      }
      yield* takePassing(passing, after);
      if (stored.length > 0) continue;
      // Nothing, if nothing stirred while it was looked at.
      if (activity !== "active" && beside === undefined && quiet) return;
      await (beside === undefined ? wake.promise : Promise.race([wake.promise, beside]));
    }
  } finally {
    stopFeed();
    stopChanges();
  }
}

function* takePassing(passing: PassingEvent[], after: number): Generator<PassingEvent> {
  while (passing[0] !== undefined && passing[0].after <= after) yield passing.shift() as PassingEvent;
}
