import type { Snapshot, Target } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, FRAME_COLUMNS, list, SESSION_COLUMNS } from "../sql/columns.ts";
import type { Row } from "../sql/row.ts";
import { toCall, toConfirmation, toFrame, toSession } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import type { PostgresValue } from "./driver.ts";

/** What {@link toSession} reads. */
export const SESSION_LIST: string = list(SESSION_COLUMNS, "s");

const NOW = "countersign.now_ms()";
const CALL_START = SESSION_COLUMNS.length;
const CONFIRMATION_START = CALL_START + CALL_COLUMNS.length;
const FRAME_START = CONFIRMATION_START + CONFIRMATION_COLUMNS.length;
const WHOLE_LIST = `${SESSION_LIST}, ${list(CALL_COLUMNS, "k")}, ${list(CONFIRMATION_COLUMNS, "c")}, ${list(FRAME_COLUMNS, "f")}, ${NOW}`;

// One statement each: it sees one state of the database, and costs one round trip.
const OF_SESSION = `select ${SESSION_LIST}, ${NOW} from countersign.sessions s where`;
const BY_NAME = `${OF_SESSION} s.app = $1 and s."user" = $2 and s.id = $3`;
const BY_KEY = `${OF_SESSION} s.key = $1`;
const BY_CONFIRMATION = `
  select ${WHOLE_LIST} from countersign.confirmations c join countersign.sessions s on s.key = c.session
  left join countersign.calls k on k.id = c.call left join countersign.frames f on f.id = k.frame
  where c.id = $1`;
const BY_CALL = `
  select ${WHOLE_LIST} from countersign.calls k join countersign.sessions s on s.key = k.session
  left join countersign.confirmations c on c.id = k.confirmation left join countersign.frames f on f.id = k.frame
  where k.id = $1`;
const BY_FRAME = `
  select ${SESSION_LIST}, ${list(FRAME_COLUMNS, "f")}, ${NOW} from countersign.frames f
  join countersign.sessions s on s.key = f.session where f.id = $1`;

export async function load(database: Database, target: Target): Promise<Snapshot | undefined> {
  const [sql, values] = statementFor(target);
  const row = await database.get(sql, values);
  if (row === undefined) return undefined;
  const snapshot = { now: row.at(-1) as number, session: toSession(row) };
  if ("session" in target || "sessionKey" in target) return snapshot;
  if ("frame" in target) return { ...snapshot, frame: toFrame(row, SESSION_COLUMNS.length) };
  return { ...snapshot, ...whole(row) };
}

function statementFor(target: Target): readonly [sql: string, values: readonly PostgresValue[]] {
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
