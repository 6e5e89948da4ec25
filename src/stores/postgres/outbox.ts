import type { Delivery, DeliveryEnd, Outbox, Page, PageRequest } from "../../engine/index.ts";
import type { Paging } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import type { Database } from "./database.ts";
import { NOW } from "./now.ts";
import { readPage } from "./read-page.ts";

// What a crash of the server takes of these is done again: read again, taken again, told again.
const UNSYNCED = "case when $1 then '' else set_config('synchronous_commit', 'off', true) end";
const COLUMNS = "d.channel, d.seq, d.attempt, d.since, d.dead_at, d.error";
const PLACE = "select place from countersign.channels where name = $1";
// The end comes first: what is committed after it is found is behind it.
const END = "select countersign.journal_end()";
const OPEN_CHANNEL =
  "insert into countersign.channels (name, place) " +
  "values ($1, (select coalesce(max(seq), 0) from countersign.journal where seq <= $2)) on conflict do nothing";
const ENQUEUE = `
  with moved as (
    update countersign.channels set place = $4 where name = $2 and place = $3 returning name
  ), added as (
    insert into countersign.deliveries (channel, seq, attempt, since, next_at)
    select moved.name, seqs.seq, 0, now_ms, now_ms
    from moved, unnest($5::bigint[]) seqs (seq), countersign.now_ms() now_ms on conflict do nothing
  )
  select ${UNSYNCED} from moved`;
// Those that another takes at this moment are passed over, not waited for.
const TAKE = `
  with due as (
    select channel, seq from countersign.deliveries
    where channel = $2 and dead_at is null and next_at <= ${NOW}
    order by next_at, seq limit $3 for update skip locked
  ), taken as (
    update countersign.deliveries d set attempt = d.attempt + 1, next_at = ${NOW} + $4
    from due where d.channel = due.channel and d.seq = due.seq returning ${COLUMNS}
  )
  select ${COLUMNS}, ${UNSYNCED} from taken d order by d.seq`;
const NEXT_AT =
  "select next_at from countersign.deliveries where channel = $1 and dead_at is null order by next_at limit 1";
const ATTEMPT = "channel = $2 and seq = $3 and attempt = $4 and dead_at is null";
const DELIVERED = ended("delete from countersign.deliveries");
const POSTPONE = ended(`update countersign.deliveries set next_at = ${NOW} + $5, error = $6`);
const BURY = ended(`update countersign.deliveries set dead_at = ${NOW}, error = $5`);
const DEAD =
  `select ${COLUMNS} from countersign.deliveries d ` +
  "where d.dead_at is not null and (d.channel, d.seq) > ($1, $2) order by d.channel, d.seq limit $3";
const ONE_DEAD = `select ${COLUMNS} from countersign.deliveries d where d.channel = $1 and d.seq = $2 and d.dead_at is not null`;
const REVIVE =
  "update countersign.deliveries set attempt = 0, since = now_ms, next_at = now_ms, dead_at = null " +
  "from countersign.now_ms() now_ms where channel = $1 and seq = $2 and dead_at is not null";

function ended(change: string): string {
  return `with ended as (${change} where ${ATTEMPT} returning 1) select ${UNSYNCED} from ended`;
}

/** A database, and whether what is written to the outbox is on disk before it is acknowledged. */
export interface OutboxDatabase {
  readonly database: Database;
  readonly sync: boolean;
}

/** How far the channel has read; it is made where it is new. */
export async function readChannelPlace(database: Database, channel: string): Promise<number> {
  const known = await database.get(PLACE, [channel]);
  if (known !== undefined) return known[0] as number;
  const end = (await database.get(END))?.[0] as number;
  await database.run(OPEN_CHANNEL, [channel, end]);
  return (await database.get(PLACE, [channel]))?.[0] as number;
}

export async function enqueueDeliveries(
  { database, sync }: OutboxDatabase,
  { channel, from, to, seqs }: Parameters<Outbox["enqueue"]>[0],
): Promise<boolean> {
  return (await database.get(ENQUEUE, [sync, channel, from, to, seqs])) !== undefined;
}

export async function takeDueDeliveries(
  { database, sync }: OutboxDatabase,
  channel: string,
  { limit, holdMs }: Parameters<Outbox["takeDeliveries"]>[1],
): Promise<readonly Delivery[]> {
  return (await database.all(TAKE, [sync, channel, limit, Math.ceil(holdMs)])).map(toDelivery);
}

export async function endAttempt(
  { database, sync }: OutboxDatabase,
  { channel, seq, attempt }: Parameters<Outbox["endDelivery"]>[0],
  end: DeliveryEnd,
): Promise<boolean> {
  const which = [sync, channel, seq, attempt];
  switch (end.as) {
    case "delivered":
      return (await database.get(DELIVERED, which)) !== undefined;
    case "postponed":
      return (await database.get(POSTPONE, [...which, Math.ceil(end.forMs), end.error])) !== undefined;
    case "dead":
      return (await database.get(BURY, [...which, end.error])) !== undefined;
  }
}

export async function readNextDeliveryAt(database: Database, channel: string): Promise<number | undefined> {
  return (await database.get(NEXT_AT, [channel]))?.[0] as number | undefined;
}

export function listDead(database: Database, request: PageRequest | undefined): Promise<Page<Delivery>> {
  const paging: Paging<Delivery> = {
    request,
    start: ["", -1],
    item: toDelivery,
    position: ({ channel, seq }) => [channel, seq],
  };
  return readPage(paging, (after, limit) => database.all(DEAD, [...after, limit]));
}

export async function readDead(
  database: Database,
  channel: string,
  seq: number,
): Promise<Delivery | undefined> {
  const row = await database.get(ONE_DEAD, [channel, seq]);
  return row === undefined ? undefined : toDelivery(row);
}

export async function reviveDead(database: Database, channel: string, seq: number): Promise<boolean> {
  return (await database.run(REVIVE, [channel, seq])) > 0;
}

function toDelivery([channel, seq, attempt, since, deadAt, error]: Row): Delivery {
  return {
    channel: channel as string,
    seq: seq as number,
    attempt: attempt as number,
    since: since as number,
    ...(deadAt === null ? {} : { deadAt: deadAt as number }),
    ...(error === null ? {} : { error: error as string }),
  };
}
