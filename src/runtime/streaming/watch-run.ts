import { type CallRecord, type Ledger, type Rest, unlessClosed } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import type { RunContext } from "../run-context.ts";
import { type Activity, activityOf } from "./activity.ts";
import type { PartialText, PassingEvent, ToolProgress } from "./run-feed.ts";

export interface WatchedRun {
  readonly session: string;
  readonly invocation: string;
  /** The watcher knows the events up to here. */
  readonly after: number;
  /** Text in pieces, too. */
  readonly pieces: boolean;
  /** Goes on watching while the run waits for people. */
  readonly untilEnded?: boolean;
  /** Stops watching. */
  readonly signal?: AbortSignal;
}

/** What happens in a run: stored events in order, with transient events in between. */
export type RunEvent =
  | { readonly kind: "stored"; readonly event: StoredEvent }
  /** A refused answer of the message; sent, but not stored. */
  | { readonly kind: "refused"; readonly event: StoredEvent }
  /** A vote in the message that does not decide yet, and how many approvals its question has; sent, but not stored. */
  | { readonly kind: "open"; readonly event: StoredEvent }
  | PassingEvent;

/** The result of a run, up to the point where a person is needed. */
export interface Collected {
  /** All events stored meanwhile. */
  readonly events: readonly StoredEvent[];
  readonly unknown: readonly CallRecord[];
  /** The session's state, if it is known without another read. */
  readonly rest?: Pick<Rest, "session" | "asked">;
}

/** Waits until a run needs a person or ends. */
export async function collectRun(run: RunContext, watched: Omit<WatchedRun, "pieces">): Promise<Collected> {
  const { session, invocation, after } = watched;
  const { engine, background } = run;
  for (;;) {
    const cache = await unlessClosed(run.closed, run.parts.executions.settledIn(invocation));
    const beside = background.of(session);
    const rest = beside === undefined ? cache?.restAfter(after) : undefined;
    if (rest !== undefined) return { events: eventsOf(rest.events, invocation), unknown: [], rest: rest };
    const change = nextChange(engine.ledger);
    const { stirs } = background;
    const { state, unknown } = await activityOf(engine.ledger, session, invocation);
    if (state !== "active" && beside === undefined && stirs === background.stirs) {
      change.forget();
      const events = await engine.ledger.events(session, { after });
      return { events: eventsOf(events, invocation), unknown };
    }
    // Another process has it, or a provider is being asked: check again after the next commit.
    const stirred = beside === undefined ? change.happened : Promise.race([change.happened, beside]);
    await unlessClosed(run.closed, stirred).finally(change.forget);
  }
}

function eventsOf(events: readonly StoredEvent[], invocation: string): readonly StoredEvent[] {
  return events.filter((event) => event.invocationId === invocation);
}

function nextChange(ledger: Ledger): { readonly happened: Promise<void>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  const forget = ledger.onChange(() => {
    forget();
    resolve();
  });
  return { happened, forget };
}

/** Follows a run, in any process, until it needs a person or ends. Leaving the loop only stops watching. */
export async function* watchRun(run: RunContext, watched: WatchedRun): AsyncGenerator<RunEvent> {
  const { session, invocation, pieces } = watched;
  const { ledger } = run.engine;
  const texts: PartialText[] = [];
  const updates = new Set<ToolProgress>();
  let wake = Promise.withResolvers<void>();
  const nudge = (): void => wake.resolve();
  const stopFeed = run.feed.subscribe(session, { pieces }, (event) => {
    if (event.invocation !== invocation) return;
    if (event.kind === "progress") updates.add(event);
    else if (pieces) texts.push(event);
    nudge();
  });
  const stopChanges = ledger.onChange(nudge);
  const stopSignal = onAbort(watched, nudge);
  try {
    for (let after = watched.after, settled = false; ; ) {
      if (hasLeft(watched)) return;
      wake = Promise.withResolvers<void>();
      const { stirs } = run.background;
      const beside = run.background.of(session);
      const updatesBefore = [...updates];
      // Checked before the events are read, so that the last event of the run is among them.
      const { state } = await activityOf(ledger, session, invocation);
      const stored = await ledger.events(session, { after });
      for (const event of stored) {
        yield* takeTexts(texts, after);
        after += 1;
        if (event.invocationId === invocation) yield* takeStored(updates, event);
      }
      yield* takeTexts(texts, after);
      // They came after their calls were stored, so they belong after the events just read.
      yield* takeUpdates(updates, updatesBefore);
      const over = isOver(watched, state) && beside === undefined && stirs === run.background.stirs;
      if (stored.length > 0) {
        settled = false;
      } else if (over && settled) {
        return;
      } else if (over) {
        // The process that stored the last event may be about to ask a provider: check once more when it is done.
        await unlessClosed(run.closed, run.parts.executions.settledIn(invocation));
        settled = true;
      } else {
        const release = holdFor(run, state);
        const stirred = beside === undefined ? wake.promise : Promise.race([wake.promise, beside]);
        await unlessClosed(run.closed, stirred).finally(release);
      }
    }
  } finally {
    stopFeed();
    stopChanges();
    stopSignal();
  }
}

function hasLeft({ signal }: WatchedRun): boolean {
  return signal?.aborted === true;
}

function onAbort({ signal }: WatchedRun, then: () => void): () => void {
  signal?.addEventListener("abort", then);
  return () => signal?.removeEventListener("abort", then);
}

function isOver({ untilEnded = false }: WatchedRun, state: Activity["state"]): boolean {
  return untilEnded ? state === "ended" : state !== "active";
}

/** Who waits for people does not keep the process alive. */
function holdFor(run: RunContext, state: Activity["state"]): () => void {
  return state === "paused" ? () => {} : run.hold();
}

/** A stored event, behind the progress of the calls that it answers. */
function* takeStored(updates: Set<ToolProgress>, event: StoredEvent): Generator<RunEvent> {
  yield* takeUpdates(
    updates,
    [...updates].filter((update) => isAnswerTo(event, update)),
  );
  yield { kind: "stored", event };
}

function* takeTexts(texts: PartialText[], after: number): Generator<PartialText> {
  for (let [next] = texts; next !== undefined && next.after <= after; [next] = texts) {
    texts.shift();
    yield next;
  }
}

function* takeUpdates(updates: Set<ToolProgress>, these: readonly ToolProgress[]): Generator<ToolProgress> {
  for (const update of these) if (updates.delete(update)) yield update;
}

function isAnswerTo({ content }: StoredEvent, { callId }: ToolProgress): boolean {
  return content?.parts.some(({ functionResponse }) => functionResponse?.id === callId) === true;
}
