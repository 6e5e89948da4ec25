import type { Snapshot, Target } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, FRAME_COLUMNS, list, SESSION_COLUMNS } from "../sql/columns.ts";
import type { Row } from "../sql/row.ts";
import { toCall, toConfirmation, toFrame, toSession } from "../sql/rows.ts";
import type { Database } from "./database.ts";

/** What {@link toSession} reads. */
export const SESSION_LIST: string = list(SESSION_COLUMNS, "s");

const CALL_START = SESSION_COLUMNS.length;
const CONFIRMATION_START = CALL_START + CALL_COLUMNS.length;
const FRAME_START = CONFIRMATION_START + CONFIRMATION_COLUMNS.length;

const WHOLE_LIST = `${SESSION_LIST}, ${list(CALL_COLUMNS, "k")}, ${list(CONFIRMATION_COLUMNS, "c")}, ${list(FRAME_COLUMNS, "f")}`;

// One joined statement each: a statement sees one state of the database, and a second one would cost another
// lock; that is cheaper than a read transaction around several.
const BY_NAME = `select ${SESSION_LIST} from sessions s where s.app = ? and s.user = ? and s.id = ?`;
const BY_KEY = `select ${SESSION_LIST} from sessions s where s.key = ?`;
const BY_CONFIRMATION = `
  select ${WHOLE_LIST} from confirmations c
  cross join sessions s on s.key = c.session
  left join calls k on k.id = c.call left join frames f on f.id = k.frame
  where c.id = ?`;
const BY_CALL = `
  select ${WHOLE_LIST} from calls k
  cross join sessions s on s.key = k.session
  left join confirmations c on c.id = k.confirmation left join frames f on f.id = k.frame
  where k.id = ?`;
const BY_FRAME = `
  select ${SESSION_LIST}, ${list(FRAME_COLUMNS, "f")} from frames f
  cross join sessions s on s.key = f.session
  where f.id = ?`;

export function load(database: Database, target: Target, now: number): Snapshot | undefined {
  if ("session" in target) {
    const { app, user, id } = target.session;
    return sessionSnapshot(database.get(BY_NAME, [app, user, id]), now);
  }
  if ("sessionKey" in target) return sessionSnapshot(database.get(BY_KEY, [target.sessionKey]), now);
  if ("confirmation" in target)
    return wholeSnapshot(database.get(BY_CONFIRMATION, [target.confirmation]), now);
  if ("call" in target) return wholeSnapshot(database.get(BY_CALL, [target.call]), now);
  const row = database.get(BY_FRAME, [target.frame]);
  return row && { now, session: toSession(row), frame: toFrame(row, SESSION_COLUMNS.length) };
}

function sessionSnapshot(row: Row | undefined, now: number): Snapshot | undefined {
  return row && { now, session: toSession(row) };
}

function wholeSnapshot(row: Row | undefined, now: number): Snapshot | undefined {
  if (row === undefined) return undefined;
  const snapshot: { -readonly [K in keyof Snapshot]: Snapshot[K] } = { now, session: toSession(row) };
  if (row[CALL_START] !== null) snapshot.call = toCall(row, CALL_START);
  if (row[CONFIRMATION_START] !== null) snapshot.confirmation = toConfirmation(row, CONFIRMATION_START);
  if (row[FRAME_START] !== null) snapshot.frame = toFrame(row, FRAME_START);
  return snapshot;
}
