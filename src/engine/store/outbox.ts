import type { Delivery, DeliveryEnd, Journal, Outbox } from "../journal/index.ts";
import type { Page, PageRequest, StoredItem } from "../ledger/index.ts";
import { afterOf, limitOf, toPage } from "./pages.ts";
import type { Entry, Store, StoreChange } from "./store.ts";

const CHANNEL = "channel";
const DELIVERY = "delivery";
const DEAD = "dead delivery";
const MOST_TRIES = 10;
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

  async enqueue({ channel, from, to, seqs }: Parameters<Outbox["enqueue"]>[0]): Promise<boolean> {
    const known = await this.#channel(channel);
    if (known?.value !== from) return false;
    const now = this.#store.now;
    const present = new Set((await this.#deliveries(channel, seqs)).map(({ id }) => id));
    const news = seqs.filter((seq) => !present.has(idOf(channel, seq)));
    const kept: Kept = { attempt: 0, since: now, nextAt: now };
    return this.#store.change({
      items: [
        { kind: CHANNEL, id: channel, value: to, read: known.version },
        ...news.map((seq) => ({ kind: DELIVERY, id: idOf(channel, seq), value: { ...kept }, read: 0 })),
      ],
      add: news.map((seq) => entryOf(channel, seq, kept)),
    });
  }

  async takeDeliveries(
    channel: string,
    { limit, holdMs }: { readonly limit: number; readonly holdMs: number },
  ): Promise<readonly Delivery[]> {
    // Again where others took some of them first.
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const [queued = []] = await this.#store.entries([{ facet: DELIVERY, value: channel, limit }]);
      // As the store's answer tells it.
      const now = this.#store.now;
      const due = queued.filter(({ sort }) => sort <= now);
      if (due.length === 0) return [];
      const items = await this.#deliveries(
        channel,
        due.map(({ id }) => Number(id)),
      );
      // Between the two reads others may have taken some, and given some up.
      const moves = items.flatMap((item) => {
        const kept = item.value as unknown as Kept;
        if (kept.nextAt > now || kept.deadAt !== undefined) return [];
        return [{ item, next: { ...kept, attempt: kept.attempt + 1, nextAt: now + holdMs } }];
      });
      if (moves.length > 0 && (await this.#replace(moves)))
        return moves.map(({ item, next }) => toDelivery(item, next));
    }
    return [];
  }

  async endDelivery(
    { channel, seq, attempt }: Pick<Delivery, "channel" | "seq" | "attempt">,
    end: DeliveryEnd,
  ): Promise<boolean> {
    const [item] = await this.#deliveries(channel, [seq]);
    const kept = item?.value as unknown as Kept | undefined;
    if (item === undefined || kept?.attempt !== attempt || kept.deadAt !== undefined) return false;
    const now = this.#store.now;
    switch (end.as) {
      case "delivered":
        return this.#replace([{ item, next: undefined }]);
      case "postponed":
        return this.#replace([{ item, next: postponed(kept, end, now) }]);
      case "dead":
        return this.#replace([{ item, next: { ...kept, deadAt: now, error: end.error } }]);
    }
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

  #replace(
    moves: readonly { readonly item: StoredItem; readonly next: Kept | undefined }[],
    how: Pick<StoreChange, "announce"> = {},
  ): Promise<boolean> {
    const entry = ({ id }: StoredItem, kept: Kept): Entry => entryOf(...partsOf(id), kept);
    return this.#store.change({
      ...how,
      items: moves.map(({ item: { kind, id, version }, next }) => ({
        kind,
        id,
        read: version,
        ...(next === undefined ? {} : { value: { ...next } }),
      })),
      remove: moves.map(({ item }) => entry(item, item.value as unknown as Kept)),
      add: moves.flatMap(({ item, next }) => (next === undefined ? [] : [entry(item, next)])),
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
  return { facet: DELIVERY, value: channel, sort: nextAt, id: String(seq).padStart(16, "0") };
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
