import { type Entry, type EntryQuery, type LostQuery, TransientMap } from "../../engine/index.ts";
import type { Cold, ColdRow } from "./cold.ts";
import { compareText } from "./compare-text.ts";
import { Hot } from "./hot.ts";
import { compareEntries, SortedEntries } from "./sorted-entries.ts";

const ENTRIES = "select facet, value, sort, id, note from entries where facet = ?";
const UPWARDS = `${ENTRIES} and value = ? and (sort, id) > (?, ?) and sort <= ?`;
const DOWNWARDS = `${ENTRIES} and value = ? and (sort, id) < (?, ?) and sort <= ?`;
const PREFIXED = `${ENTRIES} and value >= ? and value < ? and sort <= ?`;
const NOTED = "and note in (select value from json_each(?))";
const HELD = `${ENTRIES} and (value, sort, id) > (?, ?, ?) and value not in (select value from json_each(?)) order by value, sort, id limit ?`;
const IS_HELD = "select 1 from entries where facet = ? and value = ? limit 1";
const IS_NOTED = "select 1 from entries where facet = ? and note = ? limit 1";
const PUT = "insert into entries (facet, value, sort, id, note) values (?, ?, ?, ?, ?)";
const DROP = "delete from entries where facet = ? and value = ? and sort = ? and id = ?";

const WEIGHT = 200;
const FIRST = [Number.MIN_SAFE_INTEGER, ""] as const;
const LAST = [Number.MAX_SAFE_INTEGER, "\u{10ffff}"] as const;
const BEHIND_ALL = "\u{10ffff}";

/** Index entries, each in one of the two tiers: what is added is not there yet, or was removed before. */
export class Entries {
  readonly #cold: Cold;
  readonly #hot: Hot<Entry, Entry>;
  readonly #facets = new Map<string, TransientMap<string, SortedEntries>>();
  #someAreCold = false;

  constructor(cold: Cold, most: number) {
    this.#cold = cold;
    this.#hot = new Hot(most, () => WEIGHT);
  }

  add(entry: Entry): void {
    const { facet, value } = entry;
    const values = this.#facets.get(facet) ?? new TransientMap<string, SortedEntries>();
    const entries = values.get(value) ?? new SortedEntries();
    if (values.size === 0) this.#facets.set(facet, values);
    if (entries.isEmpty) values.set(value, entries);
    const before = entries.add(entry);
    if (before !== undefined) this.#hot.delete(before);
    this.#hot.set(entry, entry);
  }

  remove(entry: Entry): void {
    const { facet, value, sort, id } = entry;
    const found = this.#takeOut(entry);
    if (found !== undefined) this.#hot.delete(found);
    else if (this.#someAreCold) this.#cold.run(DROP, facet, value, sort, id);
  }

  page(query: EntryQuery): readonly Entry[] {
    const hot = query.prefix === true ? this.#prefixed(query) : this.#of(query)?.page(query);
    if (!this.#someAreCold) return hot ?? [];
    const cold = this.#coldPage(query);
    if (hot === undefined || hot.length === 0) return cold;
    if (cold.length === 0) return hot;
    const sign = query.newestFirst === true && query.prefix !== true ? -1 : 1;
    const compare = query.prefix === true ? compareValues : compareEntries;
    return [...hot, ...cold].sort((a, b) => sign * compare(a, b)).slice(0, query.limit);
  }

  /** Entries of a facet whose value is none of these, in the order of values. */
  except(
    { facet, after = ["", ...FIRST] }: LostQuery,
    values: readonly string[],
    limit: number,
  ): readonly Entry[] {
    const found: Entry[] = [];
    const [start, ...place] = after;
    const isAsked = (value: string): boolean => compareText(value, start) >= 0 && !values.includes(value);
    const held = [...(this.#facets.get(facet)?.entries() ?? [])].filter(([value]) => isAsked(value));
    held.sort(([a], [b]) => compareText(a, b));
    for (const [value, entries] of held) {
      const left = { limit: limit - found.length, ...(value === start ? { after: place } : {}) };
      found.push(...entries.page(left));
      if (found.length >= limit) break;
    }
    if (!this.#someAreCold) return found;
    const cold = this.#cold.all(HELD, facet, ...after, JSON.stringify(values), limit);
    return [...found, ...cold.map(toEntry)].sort(compareValues).slice(0, limit);
  }

  has(facet: string, value: string): boolean {
    if (this.#facets.get(facet)?.has(value) === true) return true;
    return this.#someAreCold && this.#cold.get(IS_HELD, facet, value) !== undefined;
  }

  hasNote(facet: string, note: string): boolean {
    for (const entries of this.#facets.get(facet)?.values() ?? [])
      if (entries.page({ limit: 1, notes: [note] }).length > 0) return true;
    return this.#someAreCold && this.#cold.get(IS_NOTED, facet, note) !== undefined;
  }

  spill(): void {
    this.#hot.spill((oldest) => {
      this.#cold.together(() => {
        for (const entry of oldest) {
          const { facet, value, sort, id, note = null } = entry as Entry & { readonly note?: string | null };
          this.#cold.run(PUT, facet, value, sort, id, note);
        }
      });
      this.#someAreCold = true;
      for (const entry of oldest) this.#takeOut(entry);
    });
  }

  #of({ facet, value }: Pick<Entry, "facet" | "value">): SortedEntries | undefined {
    return this.#facets.get(facet)?.get(value);
  }

  #takeOut(entry: Entry): Entry | undefined {
    const entries = this.#of(entry);
    const found = entries?.remove(entry);
    if (entries?.isEmpty === true) this.#facets.get(entry.facet)?.delete(entry.value);
    return found;
  }

  #prefixed(query: EntryQuery): readonly Entry[] {
    const { after: _after, newestFirst: _newestFirst, ...rest } = query;
    const all = [...(this.#facets.get(query.facet)?.entries() ?? [])].filter(([value]) =>
      value.startsWith(query.value),
    );
    all.sort(([a], [b]) => compareText(a, b));
    const found: Entry[] = [];
    for (const [, entries] of all) {
      found.push(...entries.page({ ...rest, limit: query.limit - found.length }));
      if (found.length >= query.limit) break;
    }
    return found;
  }

  #coldPage({ facet, value, limit, after, until, newestFirst, prefix, notes }: EntryQuery): readonly Entry[] {
    const [noted, given] = notes === undefined ? ["", []] : [NOTED, [JSON.stringify(notes)]];
    const most = [until ?? Number.MAX_SAFE_INTEGER, ...given, Math.min(limit, Number.MAX_SAFE_INTEGER)];
    if (prefix === true) {
      const sql = `${PREFIXED} ${noted} order by value, sort, id limit ?`;
      return this.#cold.all(sql, facet, value, value + BEHIND_ALL, ...most).map(toEntry);
    }
    const [sql, start] =
      newestFirst === true
        ? [`${DOWNWARDS} ${noted} order by sort desc, id desc limit ?`, after ?? LAST]
        : [`${UPWARDS} ${noted} order by sort, id limit ?`, after ?? FIRST];
    return this.#cold.all(sql, facet, value, ...start, ...most).map(toEntry);
  }
}

function toEntry([facet, value, sort, id, note]: ColdRow): Entry {
  return { facet, value, sort, id, ...(note === null ? {} : { note }) } as Entry;
}

function compareValues(a: Entry, b: Entry): number {
  return compareText(a.value, b.value) || compareEntries(a, b);
}
