import type {
  CallRecord,
  ConfirmationWithCall,
  Ledger,
  SessionRecord,
  Snapshot,
} from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { activityOf, isNested, redactCalls } from "../../runtime/index.ts";
import type { TaskRef } from "./task-id.ts";

export type TaskPhase = "working" | "waiting" | "completed" | "failed" | "canceled";

/** A task, read from the ledger. It is stored nowhere else. */
export interface TaskView {
  readonly ref: TaskRef;
  readonly session: SessionRecord;
  /** The events of this run, starting with the message that began it; without declared secrets. */
  readonly events: readonly StoredEvent[];
  /** `waiting`: a person must decide or settle something. */
  readonly phase: TaskPhase;
  /** The open questions, in order; also while other parts of the run are working. */
  readonly open: readonly ConfirmationWithCall[];
  /** Calls whose outcome a person has to settle. */
  readonly unknown: readonly CallRecord[];
  /** How many events its session had. */
  readonly known: number;
  /** The ledger's clock when it was read. */
  readonly now: number;
}

const TRIES = 5;

/** Reads a task; undefined where there is no such run, or its session was deleted. */
export async function readTask(ledger: Ledger, ref: TaskRef): Promise<TaskView | undefined> {
  for (let tries = 1; ; tries += 1) {
    const before = await ledger.load({ sessionKey: ref.session });
    if (before === undefined || before.session.deletedAt !== undefined) return undefined;
    const view = await readOnce(ledger, ref, before);
    const after = await ledger.load({ sessionKey: ref.session });
    // If the session keeps changing, the last consistent state is returned.
    if (after?.session.version === before.session.version || tries === TRIES) return view;
  }
}

async function readOnce(
  ledger: Ledger,
  ref: TaskRef,
  { session, now }: Pick<Snapshot, "session" | "now">,
): Promise<TaskView | undefined> {
  const current = await currentState(ledger, session, ref.invocation);
  const read = await eventsOf(ledger, ref);
  if (read === undefined) return undefined;
  const ending = new Ending();
  for (const event of read.events) ending.add(event);
  return {
    ref,
    session,
    events: await redactCalls(ledger, ref.session, read.events),
    phase: current.phase ?? ending.phase,
    open: current.open,
    unknown: current.phase === "waiting" ? current.unknown : [],
    known: read.known,
    now,
  };
}

/** What is open in a run, and its phase unless it has ended. */
export async function currentState(
  ledger: Ledger,
  session: Pick<SessionRecord, "key" | "open">,
  invocation: string,
): Promise<Pick<TaskView, "open" | "unknown"> & { readonly phase?: TaskPhase }> {
  const { state, unknown } = await activityOf(ledger, session.key, invocation);
  if (state === "ended") return { open: [], unknown };
  const open = await openIn(ledger, session, invocation);
  const waits = state === "paused" && open.length + unknown.length > 0;
  return { open, unknown, phase: waits ? "waiting" : "working" };
}

/** How much of a session is read at a time: most of it may belong to other runs. */
const READ_BYTES = 1_000_000;

/** A session's events after a place, in parts. */
export async function* eventsAfter(
  ledger: Ledger,
  session: string,
  place: number,
): AsyncGenerator<readonly StoredEvent[]> {
  for (let after = place; ; ) {
    const events = await ledger.events(session, { after, bytes: READ_BYTES });
    if (events.length === 0) return;
    yield events;
    after += events.length;
  }
}

/** The events of a run, and how many its session has; undefined if no run begins there. */
async function eventsOf(
  ledger: Ledger,
  { session, seq, invocation }: TaskRef,
): Promise<Pick<TaskView, "events" | "known"> | undefined> {
  const found: StoredEvent[] = [];
  let known = seq - 1;
  for await (const events of eventsAfter(ledger, session, known)) {
    if (known < seq && !beginsTask(events[0], invocation)) return undefined;
    known += events.length;
    found.push(...events.filter(({ invocationId }) => invocationId === invocation));
  }
  return found.length === 0 ? undefined : { events: found, known };
}

/** A task begins with what the user said here. */
export function beginsTask(event: StoredEvent | undefined, invocation: string): boolean {
  if (event?.invocationId !== invocation || event.content === undefined) return false;
  return event.author === "user" && event.imported === undefined;
}

/** What is open in a run, in the order of asking. */
export async function openIn(
  ledger: Ledger,
  session: Pick<SessionRecord, "key" | "open">,
  invocation: string,
): Promise<readonly ConfirmationWithCall[]> {
  if (session.open === 0) return [];
  const page = await ledger.confirmations({ state: "open", session: session.key }, { limit: session.open });
  const own = page.items.filter(({ confirmation }) => confirmation.invocation === invocation);
  return own.toSorted(
    (one, other) =>
      one.confirmation.requestedAt - other.confirmation.requestedAt || one.call.ord - other.call.ord,
  );
}

/** The code of the event by which a run says that it was stopped. */
export const CANCELLED = "cancelled";

/** How a run has ended, learned from its events in order. */
export class Ending {
  #failure: string | undefined;
  #isStopped = false;

  add(event: StoredEvent): void {
    const { errorCode, closings = [], content } = event;
    // A failure of a nested run goes to the calling agent, which continues.
    if (errorCode !== undefined && !isNested(event)) this.#failure = errorCode;
    // After a withdrawn question the model continues; a stopped run does not.
    if (closings.some(({ closedBy }) => closedBy === "withdrawal")) this.#isStopped = true;
    if (content?.role === "model") this.#isStopped = false;
  }

  get phase(): TaskPhase {
    if (this.#failure !== undefined) return this.#failure === CANCELLED ? "canceled" : "failed";
    return this.#isStopped ? "canceled" : "completed";
  }
}

/** What the agent has said so far, in order. */
export function spokenIn(events: readonly StoredEvent[]): string {
  return events
    .filter((event) => event.author !== "user" && event.content?.role === "model" && !isNested(event))
    .map(
      ({ content }) =>
        content?.parts.map(({ text = "", thought }) => (thought === true ? "" : text)).join("") ?? "",
    )
    .filter((text) => text !== "")
    .join("\n");
}
