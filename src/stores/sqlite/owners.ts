import { type Entry, type LostQuery, type Owner, type OwnerState, SUSPENSION } from "../../engine/index.ts";
import { OWNER_COLUMNS, toOwnerState } from "../sql/owner-rows.ts";
import type { Database } from "./connection/database.ts";
import { entriesOf } from "./entries.ts";

const LEASE = "select 1 from owners where id = ? and fenced = 0 and lease_until > ?";
// The work of an owner is given away at the moment it is fenced. One whose lease ran out unnoticed may go on.
const BEAT =
  "insert into owners (id, host, pid, lease_until, last_beat_at, fenced) values (?, ?, ?, ?, ?, 0) " +
  "on conflict do update set lease_until = excluded.lease_until, last_beat_at = excluded.last_beat_at where fenced = 0";
const RETIRE = "update owners set fenced = 1, lease_until = min(lease_until, ?) where id = ?";
const OWNER = `select ${OWNER_COLUMNS} from owners where id = ?`;
const OVERDUE = "select 1 from owners where fenced = 0 and (lease_until <= ?1 or last_beat_at > ?1) limit 1";
// The clock was set back since. The lease counts from now on: who is alive beats before it is over.
const REBASE =
  "update owners set lease_until = ?1 + lease_until - last_beat_at, last_beat_at = ?1 where fenced = 0 and last_beat_at > ?1";
const FENCE = "update owners set fenced = 1 where fenced = 0 and lease_until <= ?";
// What has no owner whose lease runs is lost; an owner that is not even known is no exception.
const LOST =
  "select value, sort, id, note from entries where facet = ? and (value, sort, id) > (?, ?, ?) " +
  "and not exists (select 1 from owners where owners.id = entries.value and fenced = 0) " +
  "order by value, sort, id limit ?";
const FIRST = ["", Number.MIN_SAFE_INTEGER, ""] as const;

// A fenced owner that came back must still be refused, and a person who settles an unknown call is shown who held it.
const KEPT_MS = 24 * 60 * 60 * 1_000;
const DROP_IDLE =
  "delete from owners where lease_until <= ? " +
  "and not exists (select 1 from entries where facet in ('held call', 'held frame') and value = owners.id) " +
  "and not exists (select 1 from entries where facet = 'unknown call' and value = '' and note = owners.id)";

// A mark that says anything but "not suspended" counts.
const SUSPENDED =
  "select 1 from items where kind = ? and id = ? and json_type(value, '$.suspended') is not 'false'";

/** Is the ledger suspended? Then nothing may start. */
export function isSuspended(database: Database): boolean {
  return database.get(SUSPENDED, [SUSPENSION.kind, SUSPENSION.id]) !== undefined;
}

export function hasLease(database: Database, owner: string, now: number): boolean {
  return database.get(LEASE, [owner, now]) !== undefined;
}

export function beatOwner(
  database: Database,
  { id, host, pid }: Owner,
  { leaseMs, now }: { readonly leaseMs: number; readonly now: number },
): boolean {
  return database.run(BEAT, [id, host, pid, now + leaseMs, now]) === 1;
}

export function retireOwner(database: Database, id: string, now: number): void {
  database.run(RETIRE, [now, id]);
}

export function readOwner(database: Database, id: string, now: number): OwnerState | undefined {
  const row = database.get(OWNER, [id]);
  return row && toOwnerState(row, now);
}

/** Has a lease run out that is not fenced yet, or is a beat in the future? Asked before the write lock is taken for it. */
export function hasOverdueOwner(database: Database, now: number): boolean {
  return database.get(OVERDUE, [now]) !== undefined;
}

export function fenceOverdueOwners(database: Database, now: number): void {
  database.run(REBASE, [now]);
  database.run(FENCE, [now]);
}

/** No more than `limit` of each facet. Overdue owners must have been fenced before. */
export function readLost(database: Database, queries: readonly LostQuery[], limit: number): readonly Entry[] {
  return queries.flatMap(({ facet, after = FIRST }) =>
    entriesOf(facet, database.all(LOST, [facet, ...after, limit])),
  );
}

export function dropIdleOwners(database: Database, now: number): void {
  database.run(DROP_IDLE, [now - KEPT_MS]);
}
