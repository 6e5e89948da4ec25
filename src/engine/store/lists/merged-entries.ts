import type { Entry, EntryQuery, Store } from "../store.ts";

/** How many labels are read at once. */
const FEW = 4;
const LEAST = 4;

/** A list of entries under one label, as far as it was read. */
interface Reading {
  readonly query: EntryQuery;
  readonly entries: Entry[];
  isDone: boolean;
}

/**
 * The first entries under any of these labels, each id once, in the order of the list. Under many labels few entries each
 * are read first, and more only of the labels that the page needs them of: else somebody in many groups reads a whole
 * page for each group.
 */
export async function mergedEntries(
  store: Pick<Store, "entries">,
  queries: readonly EntryQuery[],
  window: number,
): Promise<readonly Entry[]> {
  const sign = queries[0]?.newestFirst === true ? -1 : 1;
  const inOrder = (a: Entry, b: Entry): number => sign * compareEntries(a, b);
  const readings: readonly Reading[] = queries.map((query) => ({ query, entries: [], isDone: false }));
  const first = queries.length <= FEW ? window : Math.max(LEAST, Math.ceil((2 * window) / queries.length));
  const begun = readings.map((reading) => ({ reading, limit: Math.min(first, window) }));
  await readMore(store, begun);
  for (;;) {
    const merged = distinct(readings).sort(inOrder);
    const last = merged[window - 1];
    // One that ends before the page does may have more of it: no more than the page has behind that end.
    const short = readings.flatMap((reading) => {
      const end = reading.entries.at(-1);
      if (reading.isDone || end === undefined) return [];
      if (last !== undefined && inOrder(end, last) >= 0) return [];
      return [{ reading, limit: window - merged.filter((entry) => inOrder(entry, end) <= 0).length }];
    });
    if (short.length === 0) return merged.slice(0, window);
    await readMore(store, short);
  }
}

async function readMore(
  store: Pick<Store, "entries">,
  wanted: readonly { readonly reading: Reading; readonly limit: number }[],
): Promise<void> {
  const pages = await store.entries(
    wanted.map(({ reading: { query, entries }, limit }) => {
      const last = entries.at(-1);
      return { ...query, limit, ...(last === undefined ? {} : { after: [last.sort, last.id] as const }) };
    }),
  );
  for (const [place, { reading, limit }] of wanted.entries()) {
    const page = pages[place] ?? [];
    reading.entries.push(...page);
    reading.isDone = page.length < limit;
  }
}

function distinct(readings: readonly Reading[]): Entry[] {
  return [...new Map(readings.flatMap(({ entries }) => entries).map((entry) => [entry.id, entry])).values()];
}

/** By deadline or time, then by id. */
export function compareEntries(a: Pick<Entry, "sort" | "id">, b: Pick<Entry, "sort" | "id">): number {
  return a.sort - b.sort || compareIds(a.id, b.id);
}

/** In the order of UTF-8 bytes, as stores have it. */
function compareIds(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return inBytes(one) - inBytes(other);
  }
  return a.length - b.length;
}

/** What surrogates stand for lies behind all other characters. */
function inBytes(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
