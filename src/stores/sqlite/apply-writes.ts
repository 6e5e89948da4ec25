import type { Commit, CommitOutcome, FrameStatus, Memo, Write } from "../../engine/index.ts";
import { withCutCall, withCutConfirmation } from "../sql/changes.ts";
import {
  FRAME_COLUMNS,
  insertInto,
  JOURNAL_COLUMNS,
  list,
  MEMO_COLUMNS,
  SESSION_COLUMNS,
  STEP_COLUMNS,
  STORED_CALL_COLUMNS,
  STORED_CONFIRMATION_COLUMNS,
} from "../sql/columns.ts";
import type { SqlValue } from "../sql/row.ts";
import { fromCall, fromConfirmation, fromFrame, fromJournal, toJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { eraseSession } from "./erase.ts";
import { updateCall, updateConfirmation, updateFrame } from "./guarded-update.ts";
import { mergeState } from "./states.ts";

type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

const LIVE_OWNER = "exists (select 1 from owners where id = ? and fenced = 0 and lease_until > ?)";
const OWNER_ALIVE = `select ${LIVE_OWNER}`;
// Naming `deleted_at`, even to leave it as it is, would rewrite an index entry and so a page at every commit.
const MOVE =
  "update sessions set version = version + 1, next_seq = ?, open = ?, ready = ?, bytes = ?, chain_n = ?, chain_hash = ?, updated_at = ?";
// Each with and without the guard of an owner's lease; a `where true` tells `on conflict` from a join's `on`.
const CREATE_SESSION = ownedOrNot(
  `insert into sessions (${list(SESSION_COLUMNS)}) select ${SESSION_COLUMNS.map(() => "?").join(", ")} where true`,
  " on conflict do nothing",
);
const MOVE_SESSION = ownedOrNot(`${MOVE} where key = ? and version = ?`);
const DELETE_SESSION = ownedOrNot(`${MOVE}, deleted_at = ? where key = ? and version = ?`);
const VERSION = "select version from sessions where key = ?";
const INSERT_EVENT = "insert into events (session, seq, body) values (?, ?, ?)";
const INSERT_JOURNAL = insertInto("journal", JOURNAL_COLUMNS);
const INSERT_FRAME = insertInto("frames", [...FRAME_COLUMNS, "over"]);
const INSERT_CALL = insertInto("calls", STORED_CALL_COLUMNS);
const INSERT_CONFIRMATION = insertInto("confirmations", STORED_CONFIRMATION_COLUMNS);
const INSERT_STEP = `${insertInto("steps", STEP_COLUMNS)} on conflict do nothing`;
const UPDATE_STEP =
  "update steps set status = ?, digest = ?, value = ? " +
  "where call = ? and kind = ? and name = ? and occurrence = ? and status = ?";
const REMEMBER =
  `${insertInto("memos", MEMO_COLUMNS)} on conflict do update set request_digest = excluded.request_digest, ` +
  "response = excluded.response, expires_at = excluded.expires_at where memos.expires_at <= ?";
const STEPPING_BESIDE_NEW =
  "select 1 from frames indexed by frames_live where session = ? and over = 0 " +
  "and status = 'stepping' and branch is ? limit 1";
const STEPPING_BESIDE =
  "select 1 from frames f cross join frames other indexed by frames_live on other.session = f.session " +
  "and other.over = 0 and other.status = 'stepping' and other.branch is f.branch and other.id <> f.id " +
  "where f.id = ? limit 1";
const CONFIRMATION_IN = "select 1 from confirmations where id = ? and status = ?";

/** Applies a commit inside the caller's transaction; the caller rolls back when the outcome is not ok. */
export function applyCommit(database: Database, commit: Commit, now: number): CommitOutcome {
  const conflict = moveSession(database, commit, now) ?? applyWrites(database, commit, now);
  return conflict === undefined ? { ok: true } : { ok: false, conflict };
}

function moveSession(database: Database, commit: Commit, now: number): Conflict | undefined {
  const { session, change, owner } = commit;
  const { key, version, create } = session;
  const { nextSeq, open, ready, bytes, chain, updatedAt, deletedAt } = change;
  const values: SqlValue[] = [nextSeq, open, ready, bytes, chain.n, chain.hash, updatedAt];
  if (create !== undefined) {
    values.unshift(key, create.app, create.user, create.id, version + 1);
    values.push(updatedAt, deletedAt ?? null);
  } else {
    if (deletedAt !== undefined) values.push(deletedAt);
    values.push(key, version);
  }
  if (owner !== undefined) values.push(owner, now);
  const statement =
    create !== undefined ? CREATE_SESSION : deletedAt === undefined ? MOVE_SESSION : DELETE_SESSION;
  const sql = owner === undefined ? statement.plain : statement.owned;
  return database.run(sql, values) === 1 ? undefined : whyNotMoved(database, commit, now);
}

function ownedOrNot(sql: string, rest = ""): { readonly plain: string; readonly owned: string } {
  return { plain: sql + rest, owned: `${sql} and ${LIVE_OWNER}${rest}` };
}

function whyNotMoved(database: Database, { session, owner }: Commit, now: number): Conflict {
  const stored = database.get(VERSION, [session.key])?.[0] ?? 0;
  const lost = owner !== undefined && database.get(OWNER_ALIVE, [owner, now])?.[0] === 0;
  return lost && stored === session.version ? "owner" : "version";
}

interface Place {
  readonly session: string;
  readonly now: number;
}

function applyWrites(database: Database, commit: Commit, now: number): Conflict | undefined {
  const place = { session: commit.session.key, now };
  for (const write of commit.writes) {
    const conflict = applyWrite(database, write, place);
    if (conflict !== undefined) return conflict;
  }
  return undefined;
}

function applyWrite(database: Database, write: Write, place: Place): Conflict | undefined {
  switch (write.kind) {
    case "frame-insert":
      return insertFrame(database, write);
    case "frame-update":
      return changeFrame(database, write);
    case "call-update":
      return changeCall(database, write);
    case "confirmation-update":
      return changeConfirmation(database, write, place.now);
    case "step":
      return writeStep(database, write);
    case "remember":
      return remember(database, write.memo, place.now);
    default:
      writeUnguarded(database, write, place.session);
      return undefined;
  }
}

type GuardedKind =
  | "frame-insert"
  | "frame-update"
  | "call-update"
  | "confirmation-update"
  | "step"
  | "remember";

function writeUnguarded(
  database: Database,
  write: Exclude<Write, { kind: GuardedKind }>,
  session: string,
): void {
  switch (write.kind) {
    case "event":
      database.run(INSERT_EVENT, [session, write.seq, write.text ?? toJson(write.event)]);
      return;
    case "journal":
      database.run(INSERT_JOURNAL, fromJournal(write.record));
      return;
    case "call-insert":
      database.run(INSERT_CALL, fromCall(write.call));
      return;
    case "confirmation-insert":
      database.run(INSERT_CONFIRMATION, fromConfirmation(write.confirmation));
      return;
    case "state":
      mergeState(database, session, write);
      return;
    case "erase":
      eraseSession(database, session);
      return;
  }
}

type WriteOf<Kind extends Write["kind"]> = Extract<Write, { kind: Kind }>;

function insertFrame(
  database: Database,
  { frame, exclusive }: WriteOf<"frame-insert">,
): Conflict | undefined {
  const beside = [frame.session, frame.branch ?? null];
  if (exclusive && database.get(STEPPING_BESIDE_NEW, beside) !== undefined) return "busy";
  database.run(INSERT_FRAME, [...fromFrame(frame), Number(isOver(frame.status))]);
  return undefined;
}

function changeFrame(database: Database, write: WriteOf<"frame-update">): Conflict | undefined {
  if (write.exclusive && database.get(STEPPING_BESIDE, [write.id]) !== undefined) return "busy";
  const { id, from, set } = write;
  const change = set.status !== undefined && isOver(set.status) ? { ...set, over: true } : set;
  return updateFrame.run(database, change, "id = ? and status = ?", [id, from]) ? undefined : "row";
}

function isOver(status: FrameStatus): boolean {
  return status === "done" || status === "failed" || status === "cancelled";
}

function changeCall(database: Database, write: WriteOf<"call-update">): Conflict | undefined {
  const { id, from, attempt, set } = write;
  const guard = "id = ? and status = ? and attempt = ?";
  return updateCall.run(database, withCutCall(set), guard, [id, from, attempt]) ? undefined : "row";
}

function changeConfirmation(
  database: Database,
  { id, from, deadline, set: change }: WriteOf<"confirmation-update">,
  now: number,
): Conflict | undefined {
  const set = withCutConfirmation(change);
  if (deadline === undefined) {
    return updateConfirmation.run(database, set, "id = ? and status = ?", [id, from]) ? undefined : "row";
  }
  const guard = `id = ? and status = ? and deadline ${deadline === "ahead" ? ">" : "<="} ?`;
  if (updateConfirmation.run(database, set, guard, [id, from, now])) return undefined;
  return database.get(CONFIRMATION_IN, [id, from]) === undefined ? "row" : "deadline";
}

function writeStep(database: Database, { step, from }: WriteOf<"step">): Conflict | undefined {
  const { call, kind, name, occurrence, status } = step;
  const digest = step.digest ?? null;
  const value = toJson(step.value);
  const changed =
    from === undefined
      ? database.run(INSERT_STEP, [call, kind, name, occurrence, status, digest, value])
      : database.run(UPDATE_STEP, [status, digest, value, call, kind, name, occurrence, from]);
  return changed === 1 ? undefined : "row";
}

// A key that is still remembered refuses the commit: its first answer stands.
function remember(database: Database, memo: Memo, now: number): Conflict | undefined {
  const { principal, route, key, requestDigest, response, expiresAt } = memo;
  const changed = database.run(REMEMBER, [
    principal,
    route,
    key,
    requestDigest,
    toJson(response),
    expiresAt,
    now,
  ]);
  return changed === 1 ? undefined : "row";
}
