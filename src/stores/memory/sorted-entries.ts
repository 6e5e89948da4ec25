import type { Entry, EntryQuery } from "../../engine/index.ts";
import { compareText } from "./compare-text.ts";

type Place = Pick<Entry, "sort" | "id">;

/** A chunk is split when it has more entries than this. */
const LONGEST_CHUNK = 512;

const NO_CHUNKS: Entry[][] = [];

/** The entries of one facet and value, in order. */
export class SortedEntries {
  /** Most have only one. */
  #only: Entry | undefined;
  // Each chunk is sorted, none is empty, and all of one come before all of the next.
  #chunks: Entry[][] = NO_CHUNKS;

  get isEmpty(): boolean {
    return this.#only === undefined && this.#chunks.length === 0;
  }

  /** Gives back the one that was in its place. */
  add(entry: Entry): Entry | undefined {
    if (this.isEmpty) {
      this.#only = entry;
      return undefined;
    }
    this.#unfold();
    const last = this.#chunks.length - 1;
    const end = this.#chunks[last]?.at(-1) as Entry;
    const isBehind = compareEntries(entry, end) > 0;
    const at = isBehind ? last : this.#chunkOf(entry);
    const chunk = this.#chunks[at] as Entry[];
    const place = isBehind ? chunk.length : firstNotBefore(chunk, entry);
    const found = chunk[place];
    if (found !== undefined && compareEntries(found, entry) === 0) {
      chunk[place] = entry;
      return found;
    }
    chunk.splice(place, 0, entry);
    if (chunk.length > LONGEST_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1));
    return undefined;
  }

  remove(entry: Place): Entry | undefined {
    const only = this.#only;
    if (only !== undefined) {
      if (compareEntries(only, entry) !== 0) return undefined;
      this.#only = undefined;
      return only;
    }
    const at = this.#chunkOf(entry);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    const place = firstNotBefore(chunk, entry);
    const found = chunk[place];
    if (found === undefined || compareEntries(found, entry) !== 0) return undefined;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return found;
  }

  page({
    limit,
    after,
    until,
    newestFirst,
    notes,
  }: Pick<EntryQuery, "limit" | "after" | "until" | "newestFirst" | "notes">): readonly Entry[] {
    this.#unfold();
    const found: Entry[] = [];
    const start = after && { sort: after[0], id: after[1] };
    for (const entry of newestFirst === true ? this.#backwards(start) : this.#forwards(start)) {
      if (until !== undefined && entry.sort > until) {
        if (newestFirst === true) continue;
        break;
      }
      if (notes !== undefined && !notes.includes(entry.note ?? "")) continue;
      found.push(entry);
      if (found.length >= limit) break;
    }
    return found;
  }

  #unfold(): void {
    if (this.#only === undefined) return;
    this.#chunks = [[this.#only]];
    this.#only = undefined;
  }

  *#forwards(start: Place | undefined): Generator<Entry> {
    for (let at = start === undefined ? 0 : this.#chunkOf(start); at < this.#chunks.length; at += 1) {
      const chunk = this.#chunks[at] as Entry[];
      let place = start === undefined ? 0 : firstNotBefore(chunk, start);
      for (; place < chunk.length; place += 1) {
        const entry = chunk[place] as Entry;
        if (start === undefined || compareEntries(entry, start) > 0) yield entry;
      }
    }
  }

  *#backwards(start: Place | undefined): Generator<Entry> {
    const from =
      start === undefined ? this.#chunks.length - 1 : Math.min(this.#chunkOf(start), this.#chunks.length - 1);
    for (let at = from; at >= 0; at -= 1) {
      const chunk = this.#chunks[at] as Entry[];
      let place = (start === undefined ? chunk.length : firstNotBefore(chunk, start)) - 1;
      for (; place >= 0; place -= 1) yield chunk[place] as Entry;
    }
  }

  /** The first chunk that does not end before the place. */
  #chunkOf(place: Place): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const end = this.#chunks[middle]?.at(-1) as Entry;
      if (compareEntries(end, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstNotBefore(chunk: readonly Entry[], place: Place): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareEntries(chunk[middle] as Entry, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function compareEntries(a: Place, b: Place): number {
  return a.sort - b.sort || compareText(a.id, b.id);
}
