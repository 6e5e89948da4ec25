import type { JsonObject } from "../../protocol/index.ts";
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryEnd,
  type EndedDelivery,
  type Journal,
  type Outbox,
  rowAt,
} from "../journal/index.ts";
import type { Page, PageRequest, StoredItem } from "../ledger/index.ts";
import { afterOf, limitOf, toPage } from "./pages.ts";
import type { DueTake, Entry, Store, StoreChange } from "./store.ts";

const CHANNEL = "channel";
const DELIVERY = "delivery";
const DEAD = "dead delivery";
const MOST_CHANNELS = 300;

/** A delivery as it is kept, beside its channel and record. */
interface Kept {
  readonly attempt: number;
  readonly holds?: number;
  readonly since: number;
  readonly nextAt: number;
  readonly deadAt?: number;
  readonly error?: string;
}

/** A delivery as it is, and as it is to be; it is gone then, if that is left out. */
interface Move {
  readonly item: StoredItem;
  readonly next: Kept | undefined;
}

/** The outbox, on what a store keeps outside of sessions. */
export class StoredOutbox implements Outbox {
  readonly #store: Store;
  readonly #journal: Journal;

  constructor(store: Store, journal: Journal) {
    this.#store = store;
    this.#journal = journal;
  }

  async channelPlace(channel: string): Promise<number> {
    const known = await this.#channel(channel);
    if (known !== undefined) return known.value as number;
    // It begins at the end of the journal.
    const value = (await this.#journal.lastRecord())?.seq ?? 0;
    await this.#store.change({ items: [{ kind: CHANNEL, id: channel, value, read: 0 }] });
    return (await this.#channel(channel))?.value as number;
  }

  async channels(): Promise<readonly string[]> {
    const found = await this.#store.itemsOf(CHANNEL, { after: "", limit: MOST_CHANNELS });
    return found.map(({ id }) => id);
  }

  async enqueue({ channel, from, to, hash, seqs }: Parameters<Outbox["enqueue"]>[0]): Promise<boolean> {
    const found = await this.#store.items([
      { kind: CHANNEL, id: channel },
      ...seqs.map((seq) => ({ kind: DELIVERY, id: idOf(channel, seq) })),
    ]);
    const known = found.find(({ kind }) => kind === CHANNEL);
    if (known?.value !== from) return false;
    const now = this.#store.now;
    const present = new Set(found.filter(({ kind }) => kind === DELIVERY).map(({ id }) => id));
    const news = seqs.filter((seq) => !present.has(idOf(channel, seq)));
    const kept: Kept = { attempt: 0, since: now, nextAt: now };
    const change = {
      items: [
        { kind: CHANNEL, id: channel, value: to, read: known.version },
        ...news.map((seq) => ({ kind: DELIVERY, id: idOf(channel, seq), value: { ...kept }, read: 0 })),
      ],
      add: news.map((seq) => entryOf(channel, seq, kept)),
    };
    return this.#store.change(change, hash === undefined ? [] : [{ seq: rowAt(to), hash }]);
  }

  async takeDeliveries(
    channel: string,
    { limit, holdMs }: { readonly limit: number; readonly holdMs: number },
  ): Promise<readonly Delivery[]> {
    const taken = await this.#store.takeDue({ kind: DELIVERY, value: channel, limit, holdMs });
    return taken.map((item) => toDelivery(item, item.value as unknown as Kept));
  }

  async endDelivery(attempt: DeliveryAttempt, end: DeliveryEnd): Promise<boolean> {
    return (await this.endDeliveries([{ attempt, end }])).length === 1;
  }

  async endDeliveries(ends: readonly EndedDelivery[]): Promise<readonly DeliveryAttempt[]> {
    // Again where another took or ended one of them meanwhile: that one's end says nothing any more.
    for (;;) {
      const moves = await this.#movesOf(ends);
      if (moves.length === 0 || (await this.#replace(moves))) return moves.map(({ attempt }) => attempt);
    }
  }

  /** The changes for attempts that still hold their delivery. */
  async #movesOf(
    ends: readonly EndedDelivery[],
  ): Promise<readonly (Move & Pick<EndedDelivery, "attempt">)[]> {
    const items = await this.#store.items(
      ends.map(({ attempt: { channel, seq } }) => ({ kind: DELIVERY, id: idOf(channel, seq) })),
    );
    const now = this.#store.now;
    const byId = new Map(items.map((item) => [item.id, item]));
    return ends.flatMap(({ attempt, end }) => {
      const item = byId.get(idOf(attempt.channel, attempt.seq));
      const kept = item?.value as unknown as Kept | undefined;
      if (item === undefined || kept?.attempt !== attempt.attempt || kept.deadAt !== undefined) return [];
      return [{ attempt, item, next: afterEnd(kept, end, now) }];
    });
  }

  async nextDeliveryAt(channel: string): Promise<number | undefined> {
    const [[next] = []] = await this.#store.entries([{ facet: DELIVERY, value: channel, limit: 1 }]);
    return next?.sort;
  }

  async deadDeliveries(page?: PageRequest): Promise<Page<Delivery>> {
    const limit = limitOf(page);
    const after: readonly [number, string] = [0, afterOf(page, [""])[0] ?? ""];
    const [dead = []] = await this.#store.entries([{ facet: DEAD, value: "", limit: limit + 1, after }]);
    const items = await this.#store.items(dead.map(({ id }) => ({ kind: DELIVERY, id })));
    const found = items.map((item) => toDelivery(item, item.value as unknown as Kept));
    return toPage(found, limit, ({ channel, seq }) => [idOf(channel, seq)]);
  }

  async deadDelivery(channel: string, seq: number): Promise<Delivery | undefined> {
    const [item] = await this.#deliveries(channel, [seq]);
    const kept = item?.value as unknown as Kept | undefined;
    return item === undefined || kept?.deadAt === undefined ? undefined : toDelivery(item, kept);
  }

  async reviveDelivery(channel: string, seq: number): Promise<boolean> {
    const [item] = await this.#deliveries(channel, [seq]);
    const kept = item?.value as unknown as Kept | undefined;
    if (item === undefined || kept?.deadAt === undefined) return false;
    const { deadAt: _deadAt, holds: _holds, ...rest } = kept;
    const now = this.#store.now;
    return this.#replace([{ item, next: { ...rest, attempt: 0, since: now, nextAt: now } }], {
      announce: true,
    });
  }

  async #channel(channel: string): Promise<StoredItem | undefined> {
    return (await this.#store.items([{ kind: CHANNEL, id: channel }]))[0];
  }

  #deliveries(channel: string, seqs: readonly number[]): Promise<readonly StoredItem[]> {
    return this.#store.items(seqs.map((seq) => ({ kind: DELIVERY, id: idOf(channel, seq) })));
  }

  #replace(moves: readonly Move[], how: Pick<StoreChange, "announce"> = {}): Promise<boolean> {
    return this.#store.change({
      ...how,
      items: moves.map(({ item: { kind, id, version }, next }) => ({
        kind,
        id,
        read: version,
        ...(next === undefined ? {} : { value: { ...next } }),
      })),
      remove: moves.map(({ item }) => entryOf(...partsOf(item.id), item.value as unknown as Kept)),
      add: moves.flatMap(({ item, next }) =>
        next === undefined ? [] : [entryOf(...partsOf(item.id), next)],
      ),
    });
  }
}

// By channel and then by record, as text sorts.
function idOf(channel: string, seq: number): string {
  return `${channel} ${String(seq).padStart(16, "0")}`;
}

function partsOf(id: string): readonly [channel: string, seq: number] {
  const end = id.lastIndexOf(" ");
  return [id.slice(0, end), Number(id.slice(end + 1))];
}

function entryOf(channel: string, seq: number, { nextAt, deadAt }: Kept): Entry {
  if (deadAt !== undefined) return { facet: DEAD, value: "", sort: 0, id: idOf(channel, seq) };
  return { facet: DELIVERY, value: channel, sort: nextAt, id: idOf(channel, seq) };
}

function afterEnd(kept: Kept, end: DeliveryEnd, now: number): Kept | undefined {
  switch (end.as) {
    case "delivered":
      return undefined;
    case "postponed":
      return postponed(kept, end, now);
    case "dead":
      return { ...kept, deadAt: now, error: end.error };
  }
}

function postponed(
  kept: Kept,
  { forMs, error, isHold }: DeliveryEnd & { readonly as: "postponed" },
  now: number,
): Kept {
  const holds = isHold === true ? { holds: (kept.holds ?? 0) + 1 } : {};
  return { ...kept, ...holds, nextAt: Math.ceil(now + forMs), error };
}

function toDelivery({ id }: StoredItem, { attempt, holds, since, deadAt, error }: Kept): Delivery {
  const [channel, seq] = partsOf(id);
  return {
    channel,
    seq,
    attempt,
    ...(holds === undefined ? {} : { holds }),
    since,
    ...(deadAt === undefined ? {} : { deadAt }),
    ...(error === undefined ? {} : { error }),
  };
}

/** What taking these items changes, and the items as they are then: for stores that do it in one step of their own. */
export function takeItems(
  items: readonly StoredItem[],
  { kind, value: queue, holdMs }: DueTake,
  now: number,
): { readonly change: StoreChange; readonly taken: readonly StoredItem[] } {
  const nextAt = Math.ceil(now + holdMs);
  const taken = items.map((item) => {
    const value = item.value as JsonObject;
    return {
      ...item,
      version: item.version + 1,
      value: { ...value, attempt: Number(value["attempt"]) + 1, nextAt },
    };
  });
  const entry = (id: string, sort: number): Entry => ({ facet: kind, value: queue, sort, id });
  return {
    taken,
    change: {
      items: taken.map(({ id, value, version }) => ({ kind, id, value, read: version - 1 })),
      remove: items.map(({ id, value }) => entry(id, Number((value as JsonObject)["nextAt"]))),
      add: taken.map(({ id }) => entry(id, nextAt)),
    },
  };
}
