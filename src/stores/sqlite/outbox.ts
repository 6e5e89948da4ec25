import type { Delivery, DeliveryEnd, Outbox, Page, PageRequest } from "../../engine/index.ts";
import { type Paging, readPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import type { Database } from "./database.ts";

const COLUMNS = "channel, seq, attempt, since, dead_at, error";
const PLACE = "select place from channels where name = ?";
const OPEN_CHANNEL =
  "insert into channels (name, place) values (?, (select coalesce(max(seq), 0) from journal)) on conflict do nothing";
const MOVE = "update channels set place = ? where name = ? and place = ?";
const INSERT =
  "insert into deliveries (channel, seq, attempt, since, next_at) values (?1, ?2, 0, ?3, ?3) on conflict do nothing";
const DUE =
  "select seq from deliveries indexed by deliveries_due where channel = ? and dead_at is null and next_at <= ? " +
  "order by next_at, seq limit ?";
const TAKE = `update deliveries set attempt = attempt + 1, next_at = ? where channel = ? and seq = ? returning ${COLUMNS}`;
const NEXT_AT =
  "select next_at from deliveries indexed by deliveries_due where channel = ? and dead_at is null order by next_at limit 1";
const ATTEMPT = "channel = ? and seq = ? and attempt = ? and dead_at is null";
const DELIVERED = `delete from deliveries where ${ATTEMPT}`;
const POSTPONE = `update deliveries set next_at = ?, error = ? where ${ATTEMPT}`;
const BURY = `update deliveries set dead_at = ?, error = ? where ${ATTEMPT}`;
const DEAD =
  `select ${COLUMNS} from deliveries indexed by deliveries_dead ` +
  "where dead_at is not null and (channel, seq) > (?, ?) order by channel, seq limit ?";
const ONE_DEAD = `select ${COLUMNS} from deliveries where channel = ? and seq = ? and dead_at is not null`;
const REVIVE =
  "update deliveries set attempt = 0, since = ?3, next_at = ?3, dead_at = null " +
  "where channel = ?1 and seq = ?2 and dead_at is not null";

export function readChannelPlace(database: Database, channel: string): number | undefined {
  return database.get(PLACE, [channel])?.[0] as number | undefined;
}

/** Makes the channel where it is new, and says how far it has read. */
export function openChannel(database: Database, channel: string): number {
  database.run(OPEN_CHANNEL, [channel]);
  return readChannelPlace(database, channel) ?? 0;
}

export function enqueueDeliveries(
  database: Database,
  { channel, from, to, seqs }: Parameters<Outbox["enqueue"]>[0],
  now: number,
): boolean {
  if (database.run(MOVE, [to, channel, from]) === 0) return false;
  for (const seq of seqs) database.run(INSERT, [channel, seq, now]);
  return true;
}

export function hasDueDelivery(database: Database, channel: string, now: number): boolean {
  return database.get(DUE, [channel, now, 1]) !== undefined;
}

export function takeDueDeliveries(
  database: Database,
  { channel, limit, holdMs }: { readonly channel: string } & Parameters<Outbox["takeDeliveries"]>[1],
  now: number,
): readonly Delivery[] {
  return database
    .all(DUE, [channel, now, limit])
    .flatMap(([seq]) => database.all(TAKE, [now + holdMs, channel, seq ?? null]))
    .map(toDelivery);
}

export function endAttempt(
  database: Database,
  { channel, seq, attempt }: Parameters<Outbox["endDelivery"]>[0],
  { end, now }: { readonly end: DeliveryEnd; readonly now: number },
): boolean {
  const which = [channel, seq, attempt];
  switch (end.as) {
    case "delivered":
      return database.run(DELIVERED, which) > 0;
    case "postponed":
      return database.run(POSTPONE, [Math.ceil(now + end.forMs), end.error, ...which]) > 0;
    case "dead":
      return database.run(BURY, [now, end.error, ...which]) > 0;
  }
}

export function readNextDeliveryAt(database: Database, channel: string): number | undefined {
  return database.get(NEXT_AT, [channel])?.[0] as number | undefined;
}

export function listDead(database: Database, request: PageRequest | undefined): Page<Delivery> {
  const paging: Paging<Delivery> = {
    request,
    start: ["", -1],
    item: toDelivery,
    position: ({ channel, seq }) => [channel, seq],
  };
  return readPage(paging, (after, limit) => database.all(DEAD, [...after, limit]));
}

export function readDead(database: Database, channel: string, seq: number): Delivery | undefined {
  const row = database.get(ONE_DEAD, [channel, seq]);
  return row === undefined ? undefined : toDelivery(row);
}

export function reviveDead(
  database: Database,
  { channel, seq }: { readonly channel: string; readonly seq: number },
  now: number,
): boolean {
  return database.run(REVIVE, [channel, seq, now]) > 0;
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
