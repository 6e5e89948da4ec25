import type { HeldWork, Owner, OwnerState } from "../../engine/index.ts";
import { list, OWNER_COLUMNS } from "../sql/columns.ts";
import { toHeld, toOwner } from "../sql/rows.ts";
import type { Database } from "./database.ts";

// The work of an owner is given away at the moment it is fenced. One whose lease ran out unnoticed may go on.
const BEAT =
  "insert into owners (id, host, pid, lease_until, last_beat_at, fenced) values (?, ?, ?, ?, ?, 0) " +
  "on conflict do update set lease_until = excluded.lease_until, last_beat_at = excluded.last_beat_at " +
  "where fenced = 0";
const RETIRE = "update owners set fenced = 1, lease_until = min(lease_until, ?) where id = ?";
const OWNER = `select ${list(OWNER_COLUMNS)} from owners where id = ?`;
const HELD =
  "select 1, id, attempt from calls where status = 'executing' and owner = ?1 union all " +
  "select 0, id, turn from frames indexed by frames_held where owner = ?1 and status = 'stepping'";
const OVERDUE = "select 1 from owners where fenced = 0 and (lease_until <= ?1 or last_beat_at > ?1) limit 1";
// The clock was set back since. The lease counts from now on: who is alive beats before it is over.
const REBASE =
  "update owners set lease_until = ?1 + lease_until - last_beat_at, last_beat_at = ?1 " +
  "where fenced = 0 and last_beat_at > ?1";
const FENCE = "update owners set fenced = 1 where fenced = 0 and lease_until <= ?";

// A fenced owner that came back must still be told so, and whoever settles an unknown call asks who held it.
const KEPT_MS = 24 * 60 * 60 * 1_000;
const DROP_OWNERS = `
  delete from owners where lease_until <= ?
    and not exists (select 1 from calls where status = 'executing' and owner = owners.id)
    and not exists (select 1 from calls where status = 'unknown' and owner = owners.id)
    and not exists (select 1 from frames indexed by frames_held where owner = owners.id and status = 'stepping')`;

export function beatOwner(
  database: Database,
  { id, host, pid }: Owner,
  leaseUntil: number,
  now: number,
): boolean {
  return database.run(BEAT, [id, host, pid, leaseUntil, now]) === 1;
}

export function retireOwner(database: Database, id: string, now: number): void {
  database.run(RETIRE, [now, id]);
}

export function readOwner(database: Database, id: string, now: number): OwnerState | undefined {
  const row = database.get(OWNER, [id]);
  return row && toOwner(row, now);
}

export function readHeld(database: Database, owner: string): HeldWork {
  return toHeld(database.all(HELD, [owner]));
}

/** Has a lease run out that is not fenced yet, or is a beat in the future? Asked before the write lock is taken for it. */
export function hasOverdueOwner(database: Database, now: number): boolean {
  return database.get(OVERDUE, [now]) !== undefined;
}

export function fenceOverdueOwners(database: Database, now: number): void {
  database.run(REBASE, [now]);
  database.run(FENCE, [now]);
}

export function dropIdleOwners(database: Database, now: number): void {
  database.run(DROP_OWNERS, [now - KEPT_MS]);
}
