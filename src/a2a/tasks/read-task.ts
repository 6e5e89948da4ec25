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
  /** Of this run, the message that began it first; without declared secrets. */
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
  const { state, unknown } = await activityOf(ledger, ref.session, ref.invocation);
  const since = await ledger.events(ref.session, { after: ref.seq - 1 });
  const [message] = since;
  if (message?.invocationId !== ref.invocation || message.content === undefined) return undefined;
  if (message.author !== "user" || message.imported !== undefined) return undefined;
  const events = since.filter(({ invocationId }) => invocationId === ref.invocation);
  const open = state === "ended" ? [] : await openIn(ledger, session, ref.invocation);
  const waits = state === "paused" && open.length + unknown.length > 0;
  return {
    ref,
    session,
    events: await redactCalls(ledger, ref.session, events),
    phase: state === "ended" ? endOf(events) : waits ? "waiting" : "working",
    open,
    unknown: waits ? unknown : [],
    known: ref.seq - 1 + since.length,
    now,
  };
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

function endOf(events: readonly StoredEvent[]): TaskPhase {
  // A failure of a nested run goes to the calling agent, which continues.
  const failure = events.findLast((event) => event.errorCode !== undefined && !isNested(event));
  if (failure !== undefined) return failure.errorCode === CANCELLED ? "canceled" : "failed";
  // After a withdrawn question the model continues; a stopped run does not.
  const lastSpoken = events.findLastIndex(({ content }) => content?.role === "model");
  const lastWithdrawn = events.findLastIndex(
    ({ closings }) => closings?.some(({ closedBy }) => closedBy === "withdrawal") === true,
  );
  return lastWithdrawn > lastSpoken ? "canceled" : "completed";
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
