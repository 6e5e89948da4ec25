import { setImmediate } from "node:timers/promises";
import {
  type ConfirmationFilter,
  type ConfirmationWithCall,
  type ListRequest,
  type Page,
  wordsOf,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { BY_DEADLINE, bothOf, PAST_ALL_IDS } from "../sql/confirmation-rows.ts";
import { askedFor, type Position, readPage, toPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { NO_DEADLINE } from "../sql/rows.ts";
import { narrow } from "./confirmation-filter.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { mayBeOpen } from "./open-confirmations.ts";
import { readEntries } from "./search-entries.ts";
import { catchUp } from "./search-index.ts";
import { beginningWith, FITS, type Search, toPatterns } from "./search-terms.ts";
import { readShown } from "./shown-confirmations.ts";

const COUNT = "select count(*) from (select 1 from search_words where word >= ? and word < ? limit ?) few";
const WINDOW_END =
  "select deadline, confirmation from inbox where facet = ? and value = ? and (deadline, confirmation) > (?, ?) " +
  "order by deadline, confirmation limit 1 offset ?";
const IN_WINDOW =
  `from inbox i cross join searchable e on e.confirmation = i.confirmation ` +
  `cross join confirmations c on c.id = i.confirmation ${CALL_AND_SESSION}` +
  "where i.facet = ? and i.value = ? and (i.deadline, i.confirmation) > (?, ?) " +
  `and (i.deadline, i.confirmation) <= (?, ?) and ${FITS}`;
const ITS_WORDS = "cross join searchable e on e.confirmation = c.id ";
const IN_ORDER = " order by i.deadline, i.confirmation limit ?";

const MOST_WORDS = 20;
// How many rows are looked through at a time: about a millisecond.
const WINDOW = 500;
const MOST_COUNTED = 20_000;
// A row of the inbox lies anywhere in the tables; a word's entries lie in order.
const ENTRIES_PER_ROW = 4;

/**
 * Open confirmations that have all these words, in the order of the inbox. Common words are soon found by looking
 * through the inbox, rare ones by their entries. As long as looking costs less than reading the entries of the rarest
 * word would, it is looked, so that a wrong guess costs no more than the right one.
 */
export async function searchOpen(
  database: Database,
  filter: ConfirmationFilter & { readonly words: string },
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const words = wordsOf(filter.words);
  checkCount(words);
  const paging = { ...BY_DEADLINE, request };
  const { after, wanted } = askedFor(paging);
  await catchUp(database);
  const narrowing = mayBeOpen(filter) ? await database.read(() => narrow(database, filter)) : undefined;
  if (words.length === 0 || narrowing === undefined) return readPage(paging, () => []);
  const search: Search = { columns: bothOf(request), patterns: toPatterns(words), narrowing };
  const { viewers } = filter;
  if (viewers !== undefined) {
    // Not by the words' entries: how many of those there are, and so how long that takes, others decide.
    const { sql, values } = narrowing.facets;
    const conditions = { sql: ` and ${FITS}${sql}`, values: [...search.patterns, ...values] };
    const look = { state: "open", viewers, conditions, beside: ITS_WORDS, request, after, wanted } as const;
    return toPage(paging, await readShown(database, look), wanted);
  }
  return toPage(paging, await findPage(database, { search, words }, { after, wanted }), wanted);
}

interface Range {
  readonly after: Position;
  readonly wanted: number;
}

/** A word and how many entries it has, counted up to a limit. */
interface Rarest {
  readonly word: string;
  readonly count: number;
}

async function findPage(
  database: Database,
  { search, words }: { readonly search: Search; readonly words: readonly string[] },
  { after, wanted }: Range,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  let looked = 0;
  let rarest: Rarest | undefined;
  let place: Position = after;
  for (;;) {
    const range: Range = { after: place, wanted: wanted - found.length };
    if (rarest !== undefined && looked * ENTRIES_PER_ROW >= rarest.count) {
      return [...found, ...(await readEntries(database, search, { ...range, word: rarest.word }))];
    }
    const window = await database.read(() => lookThrough(database, search, range));
    found.push(...window.found);
    if (window.end === undefined) return found;
    place = window.end;
    looked += WINDOW;
    rarest ??= await database.read(() => rarestOf(database, words));
    // Others get their turn.
    await setImmediate();
  }
}

/** What fits in the next window; `end` is where it ended, if more rows are behind it and wanted. */
function lookThrough(
  database: Database,
  { columns, patterns, narrowing }: Search,
  { after, wanted }: Range,
): { readonly found: readonly Row[]; readonly end?: Position } {
  const { lead, besideLead } = narrowing;
  const end = database.get(WINDOW_END, [...lead, ...after, WINDOW - 1]) as Position | undefined;
  const until = end ?? [NO_DEADLINE, PAST_ALL_IDS];
  const given = [...lead, ...after, ...until, ...patterns, ...besideLead.values, wanted];
  const found = database.all(`select ${columns} ${IN_WINDOW}${besideLead.sql}${IN_ORDER}`, given);
  return end === undefined || found.length === wanted ? { found } : { found, end };
}

function rarestOf(database: Database, words: readonly string[]): Rarest {
  let rarest: Rarest = { word: "", count: Number.POSITIVE_INFINITY };
  for (const word of words) {
    const most = Math.min(rarest.count, MOST_COUNTED);
    const count = database.get(COUNT, [...beginningWith(word), most])?.[0] as number;
    if (count < rarest.count) rarest = { word, count };
  }
  return rarest;
}

function checkCount(words: readonly string[]): void {
  if (words.length <= MOST_WORDS) return;
  throw new CountersignError(
    "malformed-request",
    `The search has ${words.length} words. Use at most ${MOST_WORDS}.`,
    { details: { field: "words" } },
  );
}
