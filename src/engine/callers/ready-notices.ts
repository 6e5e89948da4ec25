import { errorText } from "../common/index.ts";
import {
  DEFAULT_DELIVERY_SETTINGS,
  type DeliveryFailure,
  OutboxWorker,
  type Told,
} from "../deliveries/index.ts";
import {
  type Delivery,
  entrySubject,
  type JournalEntry,
  type JournalKind,
  parseEntry,
} from "../journal/index.ts";
import type { CallRecord, CallStatus, JournalRecord, SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { userOfSession } from "../people/index.ts";

/** A turn of which every question is answered: its program can go on. */
export interface ReadyTurn {
  readonly app: string;
  readonly agent: string;
  readonly thread: string;
  /** As the program named it; of a call without one, its key. */
  readonly turn: string;
  /** The program that asked. */
  readonly by: string;
}

/** Goes on with the turn. It may be called again for the same turn, also in another process; what ran does not run again. */
export type OnReady = (turn: ReadyTurn, options: { readonly signal: AbortSignal }) => Promise<void>;

/** Options of `onReady`. */
export interface OnReadyOptions {
  readonly app: string;
  /** Names the queue in the ledger. A new name starts now: it is not told of earlier turns. Default: the app. */
  readonly name?: string;
  /** How long one attempt may take before its signal aborts. Default: 30 minutes. */
  readonly timeoutMs?: number;
  /** An attempt failed. It is tried again, unless it is `dead`: then people see it among the undelivered messages. */
  readonly onFailure?: (failure: DeliveryFailure) => void;
  /** Errors of a look at the ledger; it is tried again. */
  readonly onError?: (error: unknown) => void;
}

/** Running notices; stop them before you close the engine. */
export interface ReadyNotices {
  /** Resolves once the queue exists: every turn that is answered from then on is told. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 30 * 60_000;
const HOLD_MS = 30_000;
/** In these, a call has no answer yet, or none that anybody knows. */
const OPEN: ReadonlySet<CallStatus> = new Set(["waiting", "suspended", "unknown"]);
const MOST_LATER = 200;

/** Tells a program, at least once and whichever process dies, that every question of a turn is answered. */
export function startReadyNotices(
  parts: EngineParts,
  { app, name = app, timeoutMs = TIMEOUT_MS, onFailure = () => {}, onError = () => {} }: OnReadyOptions,
  handle: OnReady,
): ReadyNotices {
  const { ledger, clock } = parts;
  const queue = `ready ${name}`;
  const worker = new OutboxWorker({
    ledger,
    clock,
    queue: { name: queue, wants: (record) => isAbout(parts, record, app) },
    settings: { ...DEFAULT_DELIVERY_SETTINGS, timeoutMs, holdMs: HOLD_MS },
    sender: () => (delivery, signal) => tell(parts, delivery, (turn) => handle(turn, { signal })),
    onFailure,
    onError,
  });
  // A process that waits for decisions must not end.
  const release = clock.hold();
  const started = ledger.outbox.channelPlace(queue).then(() => {});
  // A caller that does not await it learns through `onError` that the ledger is down.
  started.catch(() => {});
  return { started, stop: () => worker.stop().finally(release) };
}

async function tell(
  parts: EngineParts,
  delivery: Delivery,
  handle: (turn: ReadyTurn) => Promise<void>,
): Promise<Told> {
  const ready = await readTurn(parts, delivery);
  if (ready === undefined) return { ok: true };
  try {
    await handle(ready);
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

/** The turn that a record has made ready; undefined if it is not ready, or a later record will tell of it. */
async function readTurn({ ledger }: EngineParts, { seq }: Delivery): Promise<ReadyTurn | undefined> {
  const [record] = await ledger.journal.records({ after: seq - 1, until: seq, limit: 1 });
  const id = record && answeredCall(record);
  const { call, session } = (id === undefined ? undefined : await ledger.load({ call: id })) ?? {};
  if (record === undefined || call === undefined || session === undefined) return undefined;
  const open = await ledger.unanswered(session.key);
  if (open.some((other) => OPEN.has(other.status) && turnNameOf(other) === turnNameOf(call)))
    return undefined;
  return (await isToldLater(ledger, record, call)) ? undefined : toReady(call, session);
}

async function isToldLater(
  ledger: EngineParts["ledger"],
  { stream, n }: JournalRecord,
  call: CallRecord,
): Promise<boolean> {
  const later = await ledger.journal.sessionRecords(stream, { after: n, limit: MOST_LATER });
  const calls = await ledger.calls(later.flatMap((record) => answeredCall(record) ?? []));
  return calls.some((other) => turnNameOf(other) === turnNameOf(call));
}

function toReady(call: CallRecord, { id, user }: SessionRecord): ReadyTurn {
  const { app, agent } = call;
  return { app, agent, thread: id, turn: turnNameOf(call), by: userOfSession(user) };
}

function turnNameOf({ callerTurn, wireId }: CallRecord): string {
  return callerTurn ?? wireId;
}

async function isAbout({ ledger }: EngineParts, record: JournalRecord, app: string): Promise<boolean> {
  const id = answeredCall(record);
  const [call] = id === undefined ? [] : await ledger.calls([id]);
  return call?.runs === "caller" && call.app === app;
}

const ANSWERS: ReadonlySet<JournalKind> = new Set<JournalKind>([
  "confirmation-approved",
  "confirmation-denied",
  "confirmation-expired",
  "confirmation-cancelled",
  "call-settled",
  "call-released",
  "call-succeeded",
  "call-failed",
]);

/** The call that got an answer from a person, from the clock or from recovery with this record. */
function answeredCall(record: JournalRecord): string | undefined {
  const entry = parseEntry(record);
  if (entry.state !== "readable" || !ANSWERS.has(entry.kind)) return undefined;
  return isOwnAct(entry) ? undefined : entrySubject(entry).call;
}

/** What the program itself did, and so knows: it withdrew the call, or ran it. */
function isOwnAct({ kind, body }: JournalEntry): boolean {
  if (kind === "confirmation-cancelled") return body.by === undefined;
  return (kind === "call-succeeded" || kind === "call-failed") && body.late === undefined;
}
