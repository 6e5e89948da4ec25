import { TransientMap, unlessClosed } from "../common/index.ts";
import { RestingSessions, SessionCache } from "../frames/index.ts";
import type { Draft, FrameRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

/** What a piece of work belongs to, and the draft that started it. */
export interface Place {
  readonly session: string;
  readonly invocation: string;
  readonly draft?: Draft | undefined;
}

// For work that belongs to no agent.
const NOWHERE: Place = { session: "", invocation: "" };

/** The place of work on a call or frame of this session; a call without a frame belongs to no invocation. */
export function placeOf({ session }: { readonly session: string }, frame: FrameRecord | undefined): Place {
  return frame === undefined ? NOWHERE : { session, invocation: frame.invocation };
}

/** What runs here of one invocation. */
interface Run {
  readonly running: Set<Promise<void>>;
  readonly cache: SessionCache;
  /** Settled when nothing of it runs here any more. */
  over: PromiseWithResolvers<void>;
}

/** The promises that this process has to wait for: by call or frame, and by invocation. Decides nothing about calls. */
export class RunningWork {
  readonly #parts: EngineParts;
  readonly #running = new TransientMap<string, Promise<void>>();
  readonly #invocations = new TransientMap<string, Run>();
  readonly #sessions = new TransientMap<string, Set<Run>>();
  readonly #resting: RestingSessions;
  /** Keeps the process alive while a call runs, because its end must be recorded. Released when nothing runs. */
  #release: (() => void) | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#resting = new RestingSessions(parts.clock);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Resolves when nothing runs under this id any more. Rejects if the engine closes. */
  async settled(id: string): Promise<void> {
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id))
      await unlessClosed(this.#parts.closed, running);
  }

  /** Resolves when nothing of this invocation runs here any more, to what was committed here while it ran. */
  async settledIn(invocation: string): Promise<SessionCache | undefined> {
    let cache: SessionCache | undefined;
    for (
      let work = this.#invocations.get(invocation);
      work !== undefined;
      work = this.#invocations.get(invocation)
    ) {
      ({ cache } = work);
      await unlessClosed(this.#parts.closed, work.over.promise);
    }
    return cache;
  }

  /** Resolves when nothing runs here any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Keeps what was committed, for callers that wait for the session's work. */
  committed(draft: Draft): void {
    for (const { cache } of this.#sessions.get(draft.sessionKey) ?? []) cache.add(draft);
    // What was erased must not be found in memory either.
    if (draft.isErased) this.#resting.take(draft.sessionKey);
  }

  /** Removes what is kept of sessions only to save reading: another process may have erased them. */
  forgetOld(): void {
    this.#resting.forgetOld();
  }

  /** What this process committed while it worked on an invocation. */
  cacheOf(invocation: string): SessionCache | undefined {
    return this.#invocations.get(invocation)?.cache;
  }

  /** Starts this work, and counts it as running until it ends. */
  start(id: string, work: () => Promise<void>, place: Place = NOWHERE): void {
    const run = this.#invocations.get(place.invocation) ?? this.#begin(place);
    if (place.draft !== undefined) run.cache.add(place.draft);
    const track = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        // Who waits for a call of no run waits for this promise itself.
        if (place.invocation === NOWHERE.invocation) throw error;
        fail(run, error);
      } finally {
        if (this.#running.get(id) === tracked) this.#running.delete(id);
        if (this.#running.size === 0) this.#letGo();
        run.running.delete(tracked);
        if (run.running.size === 0) this.#end(place, run);
      }
    };
    const tracked = track();
    this.#running.set(id, tracked);
    this.#release ??= this.#parts.clock.hold();
    run.running.add(tracked);
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #begin({ session, invocation, draft }: Place): Run {
    // Without a draft that follows it, nobody knows whether others have gone on with the session since.
    const rested = this.#resting.take(session);
    const cache = draft === undefined ? undefined : rested;
    const run: Run = {
      running: new Set(),
      cache: cache ?? new SessionCache(),
      over: Promise.withResolvers<void>(),
    };
    this.#invocations.set(invocation, run);
    this.#sessions.set(session, (this.#sessions.get(session) ?? new Set()).add(run));
    return run;
  }

  #end({ session, invocation }: Place, run: Run): void {
    this.#invocations.delete(invocation);
    run.over.resolve();
    const others = this.#sessions.get(session);
    others?.delete(run);
    if (others?.size !== 0) return;
    this.#sessions.delete(session);
    if (run.cache.mayRest) this.#resting.add(session, run.cache);
  }
}

/** Those who wait now are told; whoever comes later waits for the rest. */
function fail(run: Run, error: unknown): void {
  const { over } = run;
  run.over = Promise.withResolvers();
  over.reject(error);
}
