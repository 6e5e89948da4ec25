import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, EntryQuery } from "../store.ts";
import { compareEntries, mergedEntries } from "./merged-entries.ts";

/** A list for each label, and how much of it was read. */
class Lists {
  read = 0;
  trips = 0;
  readonly #lists: readonly (readonly Entry[])[];

  constructor(lists: readonly (readonly Entry[])[]) {
    this.#lists = lists;
  }

  queries(more: Partial<EntryQuery> = {}): readonly EntryQuery[] {
    return this.#lists.map((_, place) => ({ facet: "open viewer", value: `${place}`, limit: 0, ...more }));
  }

  async entries(queries: readonly EntryQuery[]): Promise<readonly (readonly Entry[])[]> {
    this.trips += 1;
    const pages = queries.map(({ value, limit, after, newestFirst }) => {
      const sign = newestFirst === true ? -1 : 1;
      const list = (this.#lists[Number(value)] ?? []).toSorted((a, b) => sign * compareEntries(a, b));
      const isAhead = (one: Entry): boolean =>
        after === undefined || sign * compareEntries(one, { sort: after[0], id: after[1] }) > 0;
      return list.filter(isAhead).slice(0, limit);
    });
    this.read += pages.flat().length;
    return pages;
  }
}

function entry(label: number, sort: number, id: string): Entry {
  return { facet: "open viewer", value: `${label}`, sort, id };
}

test("what is under any label comes in the order of the list, each once, whatever is under which", async () => {
  const question = fc.record({ sort: fc.nat(20), labels: fc.uniqueArray(fc.nat(24), { maxLength: 25 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { maxLength: 80 }),
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 30 }),
      fc.boolean(),
      async (questions, labels, window, newestFirst) => {
        const all = Array.from({ length: labels }, (_, label) =>
          questions.flatMap((one, place) =>
            one.labels.includes(label) ? [entry(label, one.sort, `q${place}`)] : [],
          ),
        );
        const lists = new Lists(all);
        const queries = lists.queries(newestFirst ? { newestFirst } : {});
        const found = await mergedEntries(lists, queries, window);
        const sign = newestFirst ? -1 : 1;
        const once = [...new Map(all.flat().map((one) => [one.id, one])).values()];
        const expected = once.sort((a, b) => sign * compareEntries(a, b)).slice(0, window);
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        expect(lists.trips).toBeLessThanOrEqual(2);
      },
    ),
    { numRuns: 300 },
  );
});

/** The questions of 21 groups take turns. */
function inTurn(perGroup: number): Lists {
  return new Lists(
    Array.from({ length: 21 }, (_, label) =>
      Array.from({ length: perGroup }, (__, n) => entry(label, n * 21 + label, `q${label}-${n}`)),
    ),
  );
}

test("somebody in 20 groups reads little more than the page, however much each group has", async () => {
  for (const perGroup of [100, 5_000]) {
    const lists = inTurn(perGroup);
    const found = await mergedEntries(lists, lists.queries(), 51);
    expect(found.map(({ sort }) => sort)).toEqual(Array.from({ length: 51 }, (_, place) => place));
    expect(lists.read).toBeLessThanOrEqual(150);
  }
});

test("of a group that has the whole page the rest is read, of the others nothing", async () => {
  const lists = new Lists(
    Array.from({ length: 21 }, (_, label) =>
      Array.from({ length: 1_000 }, (__, n) => entry(label, label === 0 ? n : 10_000 + n, `q${label}-${n}`)),
    ),
  );
  const found = await mergedEntries(lists, lists.queries(), 51);
  expect(new Set(found.map(({ value }) => value))).toEqual(new Set(["0"]));
  expect(lists.read).toBeLessThanOrEqual(21 * 5 + 51);
});

test("ids are in the order of their bytes", () => {
  const ids = ["a", "b", "ab", "\u{e000}", "\u{10ffff}", "\u00e9", "\uffff", "z\u{1f600}", "z\ufffd"];
  const inOrder = ids.toSorted((a, b) => compareEntries({ sort: 0, id: a }, { sort: 0, id: b }));
  expect(inOrder).toEqual(ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
});
