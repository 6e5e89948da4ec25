import type { LedgerHistory, Owner, OwnerState } from "../../engine/index.ts";
import { OWNER_COLUMNS, toOwnerState } from "../sql/owner-rows.ts";
import type { Database } from "./connection/index.ts";
import { NOW } from "./now.ts";

// The work of an owner is given away at the moment it is fenced. One whose lease ran out unnoticed may go on.
const BEAT =
  "insert into countersign.owners as o (id, host, pid, lease_until, last_beat_at, fenced, history) " +
  "select $1, $2, $3, now_ms + $4, now_ms, 0, coalesce($5, h.id) " +
  "from countersign.now_ms() now_ms, countersign.see_history($4) h " +
  "on conflict (id) do update set lease_until = excluded.lease_until, last_beat_at = excluded.last_beat_at, " +
  "history = excluded.history where o.fenced = 0";
const HISTORY = "select id, claims_in from countersign.see_history($1)";
const RETIRE = `update countersign.owners set fenced = 1, lease_until = least(lease_until, ${NOW}) where id = $1`;
const OWNER = `select ${OWNER_COLUMNS}, ${NOW} from countersign.owners where id = $1`;
// On a server that was just promoted, a process that is alive has the length of a lease to renew its own.
const FENCE =
  `update countersign.owners set fenced = 1 where fenced = 0 and lease_until <= ${NOW} ` +
  `and not (select countersign.is_barred(${NOW}))`;
// The clock was set back since. The lease counts from now on: who is alive beats before it is over.
const REBASE =
  "update countersign.owners o set lease_until = now_ms + o.lease_until - o.last_beat_at, last_beat_at = now_ms " +
  `from ${NOW} clock (now_ms) where o.fenced = 0 and o.last_beat_at > now_ms`;

// A fenced owner that came back must still be refused, and a person who settles an unknown call is shown who held it.
const KEPT_MS = 24 * 60 * 60 * 1_000;
const DROP_OWNERS = `
  delete from countersign.owners o where lease_until <= ${NOW} - ${KEPT_MS}
    and not exists (select 1 from countersign.entries where facet = 'held call' and value = o.id)
    and not exists (select 1 from countersign.entries where facet = 'held frame' and value = o.id)
    and not exists (select 1 from countersign.entries where facet = 'unknown call' and value = '' and note = o.id)`;

export async function beatOwner(
  database: Database,
  { id, host, pid, history = null }: Omit<Owner, "history"> & { readonly history?: string | null },
  leaseMs: number,
): Promise<boolean> {
  return (await database.run(BEAT, [id, host, pid, Math.round(leaseMs), history])) === 1;
}

export async function seeHistory(database: Database, leaseMs: number): Promise<LedgerHistory> {
  const [id, claimsInMs] = (await database.get(HISTORY, [Math.round(leaseMs)])) ?? [];
  return { id: id as string, claimsInMs: claimsInMs as number };
}

export async function retireOwner(database: Database, id: string): Promise<void> {
  await database.run(RETIRE, [id]);
}

export async function readOwner(database: Database, id: string): Promise<OwnerState | undefined> {
  const row = await database.get(OWNER, [id]);
  return row && toOwnerState(row, row[6] as number);
}

export async function fenceOverdueOwners(database: Database): Promise<void> {
  await database.run(REBASE);
  await database.run(FENCE);
}

export async function dropIdleOwners(database: Database): Promise<void> {
  await database.run(DROP_OWNERS);
}
