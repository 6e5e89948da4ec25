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
export type RunEvent =
  | { readonly kind: "stored"; readonly event: StoredEvent }
  /** An answer of the message that was not taken; told, and not stored. */
  | { readonly kind: "refused"; readonly event: StoredEvent }
  | PassingEvent;

/** Waits until nothing more happens in a run without a person, and gives all that was stored meanwhile. */
export async function collectRun(
  run: RunContext,
  watched: Omit<WatchedRun, "pieces">,
): Promise<readonly StoredEvent[]> {
  const { session, invocation, after } = watched;
  const { engine, background } = run;
  for (;;) {
    await engine.settledIn(invocation);
    const change = nextChange(engine.ledger);
    const { stirs } = background;
    const beside = background.of(session);
    const activity = await activityOf(engine.ledger, session, invocation);
    if (activity !== "active" && beside === undefined && stirs === background.stirs) {
      change.forget();
      const events = await engine.ledger.events(session, { after });
      return events.filter((event) => event.invocationId === invocation);
    }
    // Another process has it, or a provider is being asked: its next commit is worth another look.
    await (beside === undefined ? change.happened : Promise.race([change.happened, beside]));
    change.forget();
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
  const nudge = (): void => wake.resolve();
  const stopFeed = run.feed.subscribe(session, { pieces }, (event) => {
    if (event.invocation !== invocation || (event.kind === "partial" && !pieces)) return;
    passing.push(event);
    nudge();
  });
  const stopChanges = ledger.onChange(nudge);
  try {
    for (let after = watched.after, settled = false; ; ) {
      wake = Promise.withResolvers<void>();
      const { stirs } = run.background;
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
      const over = activity !== "active" && beside === undefined && stirs === run.background.stirs;
      if (stored.length > 0) {
        settled = false;
      } else if (over && settled) {
        return;
      } else if (over) {
        // Whoever stored what was read last may be about to ask a provider: one more look when they are done.
        await run.engine.settledIn(invocation);
        settled = true;
      } else {
        await (beside === undefined ? wake.promise : Promise.race([wake.promise, beside]));
      }
    }
  } finally {
    stopFeed();
    stopChanges();
  }
}

function* takePassing(passing: PassingEvent[], after: number): Generator<PassingEvent> {
  while (passing[0] !== undefined && passing[0].after <= after) yield passing.shift() as PassingEvent;
}
