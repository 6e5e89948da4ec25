import type { CallStatus, ConfirmationStatus, FrameStatus } from "../../../src/engine/index.ts";
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
  /** Everything, at one moment. */
  contents(): Soon<LedgerContents>;
  close(): Soon<void>;
}

const IN_DOUBT = "exists (select 1 from calls k where k.session = c.session and k.status = 'unknown')";

/** The tool that a process runs for as long as it lives. Its sessions are nobody's, and it has nowhere to go. */
export const WATCH = "watch";

/** What the views ask; a `?` stands for a value. */
export const QUERIES = {
  sessionIds: `select id from sessions where app <> 'gate:${WATCH}'`,
  sessionKey: "select key from sessions where id = ?",
  framesOf:
    "select id, session, status from frames where session = ? and parent_frame is null order by invocation",
  deadline: "select deadline from confirmations where id = ?",
  // In one statement, and so at one moment: what is no longer the one may be the other.
  moving:
    `select (select count(*) from calls c where status in ('waiting', 'ready') ` +
    `or (status = 'executing' and tool <> '${WATCH}') or (status = 'suspended' and not ${IN_DOUBT})) + ` +
    "(select count(*) from frames c where status in ('ready', 'stepping') " +
    `or (status = 'waiting' and not ${IN_DOUBT})) as count`,
  unsettled:
    "select (select count(*) from calls where status in ('waiting', 'ready', 'executing', 'suspended', 'unknown')) + " +
    "(select count(*) from frames where status in ('ready', 'stepping', 'waiting')) as count",
  unknownCalls: "select count(*) as count from calls where status = 'unknown'",
  messages: "select count(*) as count from frames where parent_frame is null",
  digestKey: "select value from meta where name = 'digest-key'",
  sessions: "select key, app, id from sessions",
  calls: "select id, session, tool, status, attempt, repeatable, result from calls order by id",
  frames: "select id, session, status from frames order by id",
  confirmations: "select id, call, status from confirmations",
  journal: "select seq, stream, n, at, kind, body from journal order by seq",
} as const;

type Row = Readonly<Record<string, unknown>>;

export function toCall(row: Row): CallRow {
  const { repeatable, result } = row;
  return {
    ...(row as unknown as CallRow),
    repeatable: repeatable === 1,
    result: typeof result === "string" ? (JSON.parse(result) as JsonValue) : null,
  };
}

export function toJournal(row: Row): JournalRow {
  const { body } = row;
  return {
    ...(row as unknown as JournalRow),
    body: JSON.parse(typeof body === "string" ? body : "{}") as JsonObject,
  };
}
