import type { Snapshot, Target } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, FRAME_COLUMNS, list, SESSION_COLUMNS } from "../sql/columns.ts";
import type { Row } from "../sql/row.ts";
import { toCall, toConfirmation, toFrame, toSession } from "../sql/rows.ts";
import type { Database } from "./database.ts";

/** What {@link toSession} reads. */
export const SESSION_LIST: string = list(SESSION_COLUMNS, "s");

const SESSION_START = 1;
const CALL_START: number = SESSION_START + SESSION_COLUMNS.length;
const CONFIRMATION_START: number = CALL_START + CALL_COLUMNS.length;
const FRAME_START: number = CONFIRMATION_START + CONFIRMATION_COLUMNS.length;
const WHOLE_LIST = `${SESSION_LIST}, ${list(CALL_COLUMNS, "k")}, ${list(CONFIRMATION_COLUMNS, "c")}, ${list(FRAME_COLUMNS, "f")}`;

// One statement each: it sees one state of the database, and costs one round trip. Each gives a row, which says what
// time it is also where there is nothing else.
const NOW = "from countersign.now_ms() now_ms left join countersign";
const OF_SESSION = `select now_ms, ${SESSION_LIST} ${NOW}.sessions s on`;
const BY_NAME = `${OF_SESSION} s.app = $1 and s."user" = $2 and s.id = $3`;
const BY_KEY = `${OF_SESSION} s.key = $1`;
const BY_CONFIRMATION = `
  select now_ms, ${WHOLE_LIST} ${NOW}.confirmations c on c.id = $1
  left join countersign.sessions s on s.key = c.session
  left join countersign.calls k on k.id = c.call left join countersign.frames f on f.id = k.frame`;
const BY_CALL = `
  select now_ms, ${WHOLE_LIST} ${NOW}.calls k on k.id = $1
  left join countersign.sessions s on s.key = k.session
  left join countersign.confirmations c on c.id = k.confirmation left join countersign.frames f on f.id = k.frame`;
const BY_FRAME = `
  select now_ms, ${SESSION_LIST}, ${list(FRAME_COLUMNS, "f")} ${NOW}.frames f on f.id = $1
  left join countersign.sessions s on s.key = f.session`;

/** The ledger's clock, and what was asked for if it is there. */
export interface Loaded {
  readonly now: number;
  readonly snapshot: Snapshot | undefined;
}

export async function load(database: Database, target: Target): Promise<Loaded> {
  const [sql, names] = statementFor(target);
  // No text here can hold a NUL, so nothing is called so; null is nothing's name either.
  const values = names.map((name) => (name.includes("\0") ? null : name));
  const row = (await database.get(sql, values, { shared: true })) ?? [];
  const now = row[0] as number;
  if (row[SESSION_START] === null) return { now, snapshot: undefined };
  const session = toSession(row, SESSION_START);
  if ("session" in target || "sessionKey" in target) return { now, snapshot: { now, session } };
  if ("frame" in target) return { now, snapshot: { now, session, frame: toFrame(row, CALL_START) } };
  return { now, snapshot: { now, session, ...whole(row) } };
}

function statementFor(target: Target): readonly [sql: string, names: readonly string[]] {
  if ("session" in target) return [BY_NAME, [target.session.app, target.session.user, target.session.id]];
  if ("sessionKey" in target) return [BY_KEY, [target.sessionKey]];
  if ("confirmation" in target) return [BY_CONFIRMATION, [target.confirmation]];
  if ("call" in target) return [BY_CALL, [target.call]];
  return [BY_FRAME, [target.frame]];
}

function whole(row: Row): Pick<Snapshot, "call" | "confirmation" | "frame"> {
  return {
    ...(row[CALL_START] === null ? {} : { call: toCall(row, CALL_START) }),
    ...(row[CONFIRMATION_START] === null ? {} : { confirmation: toConfirmation(row, CONFIRMATION_START) }),
    ...(row[FRAME_START] === null ? {} : { frame: toFrame(row, FRAME_START) }),
  };
}
