import type { Commit, Write } from "../../engine/index.ts";
import type { SqlValue } from "../sql/row.ts";
import { eventsPiece, journalPiece, type Next, type Piece, toPieces, type WriteOf } from "./direct-writes.ts";
import type { PostgresValue } from "./driver.ts";
import { NOW } from "./now.ts";

/** A statement and what it is given. */
export interface Statement {
  readonly text: string;
  readonly values: readonly PostgresValue[];
}

/** What a commit is beside what it says. */
export interface CommitTerms {
  /** Stays on what is written: whether it was done can be asked afterwards. */
  readonly id: string;
  readonly sync: boolean;
}

const MOVE = (next: Next): string =>
  `update countersign.sessions set version = version + 1, next_seq = ${next("bigint")}, open = ${next("integer")}, ` +
  `ready = ${next("integer")}, bytes = ${next("bigint")}, chain_n = ${next("bigint")}, chain_hash = ${next()}, updated_at = ${next("bigint")}, ` +
  `commit_id = ${next("bigint")}`;
const LIVE_OWNER = (next: Next): string =>
  `exists (select 1 from countersign.owners o where o.id = ${next()} and o.fenced = 0 and o.lease_until > ${NOW} ` +
  `and countersign.may_claim(o.history, ${NOW}))`;
const NOT_STEPPING_BESIDE = (next: Next): string =>
  "not exists (select 1 from countersign.frames f join countersign.frames other on other.session = f.session " +
  "and other.status in ('ready', 'stepping', 'waiting') and other.status = 'stepping' and other.id <> f.id " +
  `and other.branch is not distinct from f.branch where f.id = ${next()})`;
const NOT_STEPPING = (next: Next): string =>
  `not exists (select 1 from countersign.frames f where f.session = ${next()} ` +
  "and f.status in ('ready', 'stepping', 'waiting') and f.status = 'stepping' " +
  `and f.branch is not distinct from ${next("text")})`;
const UNSYNCED = "set_config('synchronous_commit', 'off', true)";
const SYNCED =
  "case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', true) end";

/** What has more is seldom, and would make a shape of its own each time. */
const MOST_WRITES = 12;

/** Each is planned on each connection, which takes a millisecond and a tenth of a megabyte: only the usual ones are. */
const MOST_SHAPES = 64;
/** Texts by their shapes. */
const TEXTS = new Map<string, string>();

/**
 * A commit as one plain statement, which costs the server half of what `countersign.commit` does. All its parts look at
 * the ledger as it was when the statement began; that is enough, because whatever belongs to a session changes only with
 * its version, and nothing is written unless that is still the one that the commit names. It answers `ok` or nothing, and
 * raises CS001 where a row was not as expected; why, the function says, which then judges the same commit. Undefined for
 * commits of other kinds.
 */
export function toDirect(commit: Commit, terms: CommitTerms): Statement | undefined {
  const pieces = piecesOf(commit.writes);
  if (pieces === undefined || commit.change.deletedAt !== undefined) return undefined;
  const all = [movedPiece(commit, terms.id), ...pieces];
  const owner = commit.owner === undefined ? [] : [commit.owner];
  const shape = `${terms.sync} ${owner.length} ${all.map((piece) => piece.shape).join(" | ")}`;
  const text = TEXTS.get(shape) ?? textOf(all, { sync: terms.sync, owned: owner.length > 0 });
  if (!TEXTS.has(shape)) {
    if (TEXTS.size === MOST_SHAPES) return undefined;
    TEXTS.set(shape, text);
  }
  return { text, values: [...all.flatMap((piece) => piece.values), ...owner] };
}

function piecesOf(writes: readonly Write[]): readonly Piece[] | undefined {
  if (writes.length > MOST_WRITES) return undefined;
  const pieces: Piece[] = [];
  const events: WriteOf<"event">[] = [];
  const records: WriteOf<"journal">[] = [];
  // A row that is written twice would be seen by both as it was before.
  const written = new Set<string>();
  for (const write of writes) {
    if (write.kind === "event") events.push(write);
    else if (write.kind === "journal") records.push(write);
    else {
      const found = toPieces(write);
      const row = rowOf(write);
      if (found === undefined || written.has(row)) return undefined;
      written.add(row);
      pieces.push(...found);
    }
  }
  if (events.length > 0) pieces.push(eventsPiece(events));
  if (records.length > 0) pieces.push(journalPiece(records));
  return pieces;
}

function rowOf(write: Write): string {
  switch (write.kind) {
    case "frame-update":
    case "call-update":
    case "confirmation-update":
      return write.id;
    case "frame-insert":
      return write.frame.id;
    case "call-insert":
      return write.call.id;
    case "confirmation-insert":
      return write.confirmation.id;
    default:
      return "";
  }
}

/** The session's row, made or moved from the version that the commit names, if nobody is at work there. */
function movedPiece({ session, change, writes }: Commit, id: string): Piece {
  const { nextSeq, open, ready, bytes, chain, updatedAt } = change;
  const state: SqlValue[] = [nextSeq, open, ready, bytes, chain.n, chain.hash, updatedAt, id];
  if (session.create !== undefined) {
    const { app, user, id: name } = session.create;
    return {
      shape: "create",
      values: [session.key, app, user, name, session.version + 1, ...state, updatedAt],
      text: createText,
    };
  }
  const beside = writes.flatMap((write) => stepping(write, session.key));
  const head = session.head === undefined ? [] : [session.head];
  return {
    shape: `move ${head.length} ${beside.map((piece) => piece.shape).join()}`,
    values: [...state, session.key, session.version, ...head, ...beside.flatMap((piece) => piece.values)],
    text: (next) => {
      const conditions = [
        `${MOVE(next)} where key = ${next()}`,
        `version = ${next("bigint")}`,
        ...head.map(() => `chain_hash = ${next()}`),
        ...beside.map((piece) => piece.text(next)),
      ];
      return `${conditions.join(" and ")} returning key, commit_id`;
    },
  };
}

function createText(next: Next): string {
  const columns =
    'key, app, "user", id, version, next_seq, open, ready, bytes, chain_n, chain_hash, created_at, commit_id, updated_at';
  const types = ["text", "text", "text", "text", "bigint", "bigint", "integer", "integer"];
  const values = [...types, "bigint", "bigint", "text", "bigint", "bigint", "bigint"]
    .map((type) => next(type))
    .join(", ");
  return `insert into countersign.sessions (${columns}) values (${values}) on conflict do nothing returning key, commit_id`;
}

// In a session that is made with this nobody can be stepping; the caller asks only for others.
function stepping(write: Write, session: string): readonly Piece[] {
  if (write.kind === "frame-update" && write.exclusive === true)
    return [{ shape: "beside", values: [write.id], text: NOT_STEPPING_BESIDE }];
  if (write.kind === "frame-insert" && write.exclusive === true)
    return [{ shape: "alone", values: [session, write.frame.branch ?? null], text: NOT_STEPPING }];
  return [];
}

function textOf(
  [moved, ...pieces]: readonly Piece[],
  { sync, owned }: { readonly sync: boolean; readonly owned: boolean },
): string {
  let count = 0;
  const next: Next = (type = "text") => {
    count += 1;
    return `$${count}::${type}`;
  };
  const parts = [`moved as (${moved?.text(next) ?? ""})`];
  const guards: string[] = [];
  for (const [i, piece] of pieces.entries()) {
    parts.push(`w${i} as (${piece.text(next)})`);
    if (piece.guarded === true) guards.push(`(select count(*) from w${i}) = 1`);
  }
  // Last, when the session is locked: until then there may have been a wait, and a lease runs on.
  if (owned) guards.push(LIVE_OWNER(next));
  const answer =
    guards.length === 0
      ? "'ok'"
      : `case when ${guards.join(" and ")} then 'ok' else countersign.refuse() end`;
  return `with ${parts.join(", ")} select ${answer}, ${sync ? SYNCED : UNSYNCED} from moved`;
}
