import type { Delivery, DeliveryEnd, Outbox, Page, PageRequest } from "../../engine/index.ts";
import type { Row } from "../sql/row.ts";
import type { Database } from "./database.ts";
import { NOW } from "./now.ts";
import { readPage } from "./read-page.ts";

const COLUMNS = "d.channel, d.seq, d.attempt, d.since, d.dead_at, d.error";
const PLACE = "select place from countersign.channels where name = $1";
// The end comes first: what is committed after it is found is behind it.
const END = "select countersign.journal_end()";
const OPEN_CHANNEL =
  "insert into countersign.channels (name, place) " +
  "values ($1, (select coalesce(max(seq), 0) from countersign.journal where seq <= $2)) on conflict do nothing";
const ENQUEUE = `
  with moved as (
    update countersign.channels set place = $3 where name = $1 and place = $2 returning name
  ), added as (
    insert into countersign.deliveries (channel, seq, attempt, since, next_at)
    select moved.name, seqs.seq, 0, now_ms, now_ms
    from moved, unnest($4::bigint[]) seqs (seq), countersign.now_ms() now_ms on conflict do nothing
  )
  select 1 from moved`;
// Those that another takes at this moment are passed over, not waited for.
const TAKE = `
  with due as (
    select channel, seq from countersign.deliveries
    where channel = $1 and dead_at is null and next_at <= ${NOW}
    order by next_at, seq limit $2 for update skip locked
  ), taken as (
    update countersign.deliveries d set attempt = d.attempt + 1, next_at = ${NOW} + $3
    from due where d.channel = due.channel and d.seq = due.seq returning ${COLUMNS}
  )
  select * from taken d order by d.seq`;
const NEXT_AT =
  "select next_at from countersign.deliveries where channel = $1 and dead_at is null order by next_at limit 1";
const ATTEMPT = "channel = $1 and seq = $2 and attempt = $3 and dead_at is null";
const DELIVERED = `delete from countersign.deliveries where ${ATTEMPT}`;
const POSTPONE = `update countersign.deliveries set next_at = ${NOW} + $4, error = $5 where ${ATTEMPT}`;
const BURY = `update countersign.deliveries set dead_at = ${NOW}, error = $4 where ${ATTEMPT}`;
const DEAD =
  `select ${COLUMNS} from countersign.deliveries d ` +
  "where d.channel = $1 and d.dead_at is not null and d.seq > $2 order by d.seq limit $3";
const REVIVE =
  "update countersign.deliveries set attempt = 0, since = now_ms, next_at = now_ms, dead_at = null " +
  "from countersign.now_ms() now_ms where channel = $1 and seq = $2 and dead_at is not null";

/** How far the channel has read; it is made where it is new. */
export async function readChannelPlace(database: Database, channel: string): Promise<number> {
  const known = await database.get(PLACE, [channel]);
  if (known !== undefined) return known[0] as number;
  const end = (await database.get(END))?.[0] as number;
  await database.run(OPEN_CHANNEL, [channel, end]);
  return (await database.get(PLACE, [channel]))?.[0] as number;
}

export async function enqueueDeliveries(
  database: Database,
  { channel, from, to, seqs }: Parameters<Outbox["enqueue"]>[0],
): Promise<boolean> {
  return (await database.get(ENQUEUE, [channel, from, to, seqs])) !== undefined;
}

export async function takeDueDeliveries(
  database: Database,
  channel: string,
  { limit, holdMs }: Parameters<Outbox["takeDeliveries"]>[1],
): Promise<readonly Delivery[]> {
  return (await database.all(TAKE, [channel, limit, Math.ceil(holdMs)])).map(toDelivery);
}

export async function endAttempt(
  database: Database,
  { channel, seq, attempt }: Parameters<Outbox["endDelivery"]>[0],
  end: DeliveryEnd,
): Promise<boolean> {
  const which = [channel, seq, attempt];
  switch (end.as) {
    case "delivered":
      return (await database.run(DELIVERED, which)) > 0;
    case "postponed":
      return (await database.run(POSTPONE, [...which, Math.ceil(end.forMs), end.error])) > 0;
    case "dead":
      return (await database.run(BURY, [...which, end.error])) > 0;
  }
}

export async function readNextDeliveryAt(database: Database, channel: string): Promise<number | undefined> {
  return (await database.get(NEXT_AT, [channel]))?.[0] as number | undefined;
}

export function listDead(
  database: Database,
  channel: string,
  request: PageRequest | undefined,
): Promise<Page<Delivery>> {
  return readPage({ request, start: [-1], item: toDelivery, position: ({ seq }) => [seq] }, (after, limit) =>
    database.all(DEAD, [channel, ...after, limit]),
  );
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
