import { type StreamResponse, TaskState, type TaskStatus } from "@a2a-js/sdk";
import type { Ledger } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { type RunEvent, type Runner, redactCalls, type Waiting } from "../../runtime/index.ts";
import type { MessagePlace } from "../messages/index.ts";
import { RunHistory } from "./history.ts";
import { readTask, spokenIn, type TaskView } from "./read-task.ts";
import { rememberShown } from "./shown.ts";
import { answerArtifact, placeOf, statusOf } from "./to-task.ts";

/** Who follows a task, and until when. */
export interface Following {
  readonly runner: Runner;
  readonly ledger: Ledger;
  readonly optedIn: boolean;
  /** Aborts when nobody listens any more. The run continues. */
  readonly signal: AbortSignal;
}

/** Who follows a task that waits, which may take days. */
interface FollowingLong extends Following {
  readonly waiting: Waiting;
}

/** Waits until a task waits for a person or is over, wherever it runs. */
export async function untilPaused({ runner, ledger, signal }: Following, view: TaskView): Promise<TaskView> {
  for (let now = view; ; ) {
    if (now.phase !== "working" || signal.aborted) return now;
    const change = nextChange(ledger, signal);
    try {
      const { session, invocation } = now.ref;
      for await (const _ of runner.watch({ session, invocation, after: now.known })) {
        if (signal.aborted) return now;
      }
      const next = (await readTask(ledger, now.ref)) ?? now;
      // Nothing runs and nobody is asked: wait for the next change.
      if (next.phase === "working" && next.session.version === now.session.version) await change.happened;
      now = next;
    } finally {
      change.forget();
    }
  }
}

/**
 * Yields what happens to a task after a known state: the agent's text in pieces and whole, decisions from any way in,
 * and its state when it stops. Includes what other servers on the same database do.
 */
export async function* followTask(following: Following, view: TaskView): AsyncGenerator<StreamResponse> {
  const { ledger, runner, optedIn, signal } = following;
  const telling = new RunUpdates(view, optedIn);
  const { session, invocation } = view.ref;
  for (let now = view; ; ) {
    const change = nextChange(ledger, signal);
    try {
      for await (const event of runner.watch({ session, invocation, after: now.known, streaming: true })) {
        if (signal.aborted) return;
        yield* telling.updates(await withoutSecrets(ledger, session, event));
      }
      const next = await readTask(ledger, view.ref);
      if (next === undefined || signal.aborted) return;
      if (next.phase !== "working") {
        yield* lastWords(following, next);
        return;
      }
      // Nothing runs and nobody is asked: wait for the next change.
      if (next.session.version === now.session.version) await change.happened;
      now = next;
    } finally {
      change.forget();
    }
  }
}

async function withoutSecrets(ledger: Ledger, session: string, told: RunEvent): Promise<RunEvent> {
  if (told.kind !== "stored") return told;
  const [event = told.event] = await redactCalls(ledger, session, [told.event]);
  return { ...told, event };
}

/** The status message of a running task. */
class RunUpdates {
  readonly #place: MessagePlace;
  readonly #history: RunHistory;
  #pieces = 0;

  constructor(view: TaskView, optedIn: boolean) {
    this.#place = placeOf(view);
    this.#history = new RunHistory({ place: this.#place, optedIn });
    this.#history.learn(view.events);
  }

  updates(told: RunEvent): readonly StreamResponse[] {
    if (told.kind === "partial") return this.#piece(told.event);
    if (told.kind !== "stored") return [];
    const { event } = told;
    this.#history.learn([event]);
    // Questions are sent when the run stops, all together.
    const asked = new Set((event.asks ?? []).map(({ id }) => id));
    const timestamp = new Date(event.timestamp).toISOString();
    return this.#history
      .messages(event, asked)
      .map((message) =>
        statusUpdate(this.#place, { state: TaskState.TASK_STATE_WORKING, message, timestamp }),
      );
  }

  #piece(event: StoredEvent): readonly StreamResponse[] {
    const text = spokenIn([event]);
    if (text === "") return [];
    this.#pieces += 1;
    return [artifactUpdate(this.#place, { text, append: this.#pieces > 1, last: false })];
  }
}

async function* lastWords({ ledger, optedIn }: Following, view: TaskView): AsyncGenerator<StreamResponse> {
  const place = placeOf(view);
  const text = spokenIn(view.events);
  if (text !== "") yield artifactUpdate(place, { text, append: false, last: view.phase !== "waiting" });
  if (!optedIn && view.phase === "waiting") await rememberShown(ledger, view);
  yield statusUpdate(place, statusOf(view, optedIn));
}

/** Waits until a waiting task has changed, or nobody listens any more. */
export async function untilChanged(
  { ledger, signal, waiting }: FollowingLong,
  view: TaskView,
): Promise<TaskView | undefined> {
  for (let now = view; ; ) {
    const change = nextChange(ledger, signal);
    try {
      // Most changes are in other sessions.
      const { session } = (await ledger.load({ sessionKey: view.ref.session })) ?? {};
      if (session?.version !== now.session.version) {
        const next = await readTask(ledger, view.ref);
        if (next === undefined || next.known > view.known || next.phase !== "waiting") return next;
        now = next;
      }
      await change.happened;
      if (signal.aborted) return undefined;
      await waiting.pause();
    } finally {
      change.forget();
    }
  }
}

function artifactUpdate(
  { taskId, contextId }: MessagePlace,
  { text, append, last }: { readonly text: string; readonly append: boolean; readonly last: boolean },
): StreamResponse {
  const artifact = answerArtifact(text);
  const value = { taskId, contextId, artifact, append, lastChunk: last, metadata: undefined };
  return { payload: { $case: "artifactUpdate", value } };
}

function statusUpdate({ taskId, contextId }: MessagePlace, status: TaskStatus): StreamResponse {
  return { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata: undefined } } };
}

/** The next change in the ledger, or the end of listening. */
function nextChange(
  ledger: Ledger,
  signal: AbortSignal,
): { readonly happened: Promise<void>; readonly forget: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const stop = ledger.onChange(wake);
  signal.addEventListener("abort", wake, { once: true });
  if (signal.aborted) wake();
  return {
    happened,
    forget: () => {
      stop();
      signal.removeEventListener("abort", wake);
    },
  };
}
