import {
  type CallStatus,
  type ConfirmationStatus,
  type FrameStatus,
  readDocumentText,
} from "../../../src/engine/index.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/index.ts";

export interface CallRow {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  readonly status: CallStatus;
  readonly attempt: number;
  readonly repeatable: boolean;
  readonly result: JsonValue;
}

export interface FrameRow {
  readonly id: string;
  readonly session: string;
  readonly status: FrameStatus;
}

export interface ConfirmationRow {
  readonly id: string;
  readonly call: string;
  readonly status: ConfirmationStatus;
  readonly votes: readonly { readonly by: { readonly id: string } }[];
}

export interface JournalRow {
  readonly seq: number;
  readonly stream: string;
  readonly n: number;
  /** When, by the ledger's clock. */
  readonly at: number;
  readonly kind: string;
  readonly body: JsonObject;
}

/** All that the checker looks at, as it was at one moment. */
export interface LedgerContents {
  readonly digestKey: Uint8Array;
  readonly sessions: readonly { readonly key: string; readonly app: string; readonly id: string }[];
  readonly calls: readonly CallRow[];
  readonly frames: readonly FrameRow[];
  readonly confirmations: readonly ConfirmationRow[];
  readonly journal: readonly JournalRow[];
}

/** What a query may give: at once, or later. */
type Soon<T> = T | Promise<T>;

/** A second pair of eyes on a ledger: its own connection and its own statements, read only. */
export interface LedgerView {
  /** Has it a schema yet? */
  isMade(): Soon<boolean>;
  /** The newest committed journal record that can be about this call. */
  lastSeq(call: string): Soon<number>;
  /** Names of the sessions that exist. */
  sessionIds(): Soon<ReadonlySet<string>>;
  /** The frames that answer a session's messages, in their order; those of other agents' work are left out. */
  framesOf(session: string): Soon<readonly FrameRow[]>;
  /** As `framesOf`, by the session's name. */
  framesOfSession(sessionId: string): Soon<readonly FrameRow[]>;
  /** When a confirmation expires. */
  deadlineOf(confirmation: string): Soon<number>;
  /** Calls and frames that still have somewhere to go by themselves; what waits for an unknown call has not. */
  moving(): Soon<number>;
  /** The same and the unknown calls, with what waits for them. */
  unsettled(): Soon<number>;
  unknownCalls(): Soon<number>;
  /** How many messages were received. */
  messageCount(): Soon<number>;
  /** The journal of the session that this call belongs to. */
  journalOf(call: string): Soon<readonly JournalRow[]>;
  /** Everything, at one moment. */
  contents(): Soon<LedgerContents>;
  close(): Soon<void>;
}

/** The tool that a process runs for as long as it lives. Its sessions are nobody's, and it has nowhere to go. */
export const WATCH = "watch";

/** What the views ask; a `?` stands for a value. */
export const QUERIES = {
  digestKey: "select value from meta where name = 'digest-key'",
  documents: 'select key, app, "user", id, body from documents',
  document: 'select key, app, "user", id, body from documents where key = ?',
  documentByName: 'select key, app, "user", id, body from documents where id = ?',
  log: "select seq, session, n, at, kinds, body, archived from log order by seq",
  sessionLog: "select seq, session, n, at, kinds, body, archived from log where session = ? order by n",
} as const;

/** As a view gets it from its database. */
export type Row = Readonly<Record<string, unknown>>;

/** A session's document, with the columns beside it. */
export interface DocumentRow {
  readonly key: string;
  readonly app: string;
  readonly id: string;
  readonly calls: readonly StoredCall[];
  readonly frames: readonly StoredFrame[];
  readonly confirmations: readonly (ConfirmationRow & { readonly expiresAt?: number })[];
}

type StoredCall = Omit<CallRow, "result"> & { readonly result?: JsonValue };
type StoredFrame = FrameRow & { readonly parentFrame?: string; readonly invocation: string };

export function toDocument({ key, app, user, id, body }: Row): DocumentRow {
  const name = { app: String(app), user: String(user), id: String(id) };
  const { calls, frames, confirmations } = readDocumentText(String(key), name, String(body));
  return { key: String(key), app: name.app, id: name.id, calls, frames, confirmations };
}

/** Calls and frames that still have somewhere to go by themselves; with `settle` also those that wait for a person who settles. */
export function countOpen(
  documents: readonly DocumentRow[],
  { settle }: { readonly settle: boolean },
): number {
  return documents.reduce((sum, { calls, frames }) => {
    // What waits for an unknown call goes nowhere until somebody settles it.
    const waits = settle || !calls.some(({ status }) => status === "unknown");
    const openCalls = calls.filter(({ status, tool }) => {
      if (status === "waiting" || status === "ready") return true;
      if (status === "executing") return settle || tool !== WATCH;
      return (status === "suspended" && waits) || (status === "unknown" && settle);
    });
    const openFrames = frames.filter(
      ({ status }) => status === "ready" || status === "stepping" || (status === "waiting" && waits),
    );
    return sum + openCalls.length + openFrames.length;
  }, 0);
}

export function countUnknown(documents: readonly DocumentRow[]): number {
  return documents.flatMap(({ calls }) => calls).filter(({ status }) => status === "unknown").length;
}

/** One for each message, in their order. The oldest that are over leave their document: of those only the log tells. */
export function framesOf({ key, app, frames }: DocumentRow, log: readonly Row[]): readonly FrameRow[] {
  // A gated function has no frames.
  if (app.startsWith("gate:")) return [];
  const answering = frames.filter(({ parentFrame }) => parentFrame === undefined);
  const invocations = log.flatMap(({ body }) =>
    bodyOf(key, body).events.flatMap(({ invocationId }) => invocationId ?? []),
  );
  return [...new Set(invocations)].map((invocation) => {
    const { id, status } = answering.find((frame) => frame.invocation === invocation) ?? OVER;
    return { id, session: key, status };
  });
}

const OVER: Pick<FrameRow, "id" | "status"> = { id: "", status: "done" };

/** The newest record of a line of the log comes before this. */
export function endOf(seq: number): number {
  return (seq + 1) * PER_LINE - 1;
}

/** Positions of records: so many fit into one line of the log. */
const PER_LINE = 4_096;

export function toContents(
  digestKey: Uint8Array,
  documents: readonly DocumentRow[],
  log: readonly Row[],
): LedgerContents {
  const archives = log.map(
    ({ archived }) => JSON.parse((archived as string | null) ?? "{}") as Partial<DocumentRow>,
  );
  const calls = [...documents, ...archives].flatMap(({ calls: some = [] }) => some);
  return {
    digestKey,
    sessions: documents.map(({ key, app, id }) => ({ key, app, id })),
    calls: calls
      .map(({ result = null, ...call }) => ({ ...call, result }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    frames: documents.flatMap(({ frames }) => frames),
    confirmations: [...documents, ...archives].flatMap(({ confirmations = [] }) => confirmations),
    journal: log.flatMap(toJournal),
  };
}

export function toJournal({ seq, session, n, at, kinds, body }: Row): readonly JournalRow[] {
  const { records = [] } = bodyOf(String(session), body);
  return (JSON.parse(String(kinds) || "[]") as readonly string[]).map((kind, place) => ({
    seq: Number(seq) * PER_LINE + place,
    stream: String(session),
    n: Number(n),
    at: Number(at),
    kind,
    body: records[place] ?? {},
  }));
}

interface Body {
  readonly records?: readonly JsonObject[];
  /** Without an invocation: that of the event before it. */
  readonly events: readonly { readonly invocationId?: string }[];
}

/** In the body of a line it stands for the key of its session. */
const OWN_KEY = "\u0001";

function bodyOf(session: string, body: unknown): Body {
  if (body === null) return { events: [] };
  return JSON.parse((body as string).replaceAll(OWN_KEY, session)) as Body;
}
