import { setImmediate } from "node:timers/promises";
import type { Position } from "../sql/pages.ts";
import type { Row, SqlValue } from "../sql/row.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { beginningWith, FITS, type Search } from "./search-terms.ts";

const CHUNK_END =
  "select word, n from search_words where (word, n) > (?, ?) and word < ? order by word, n limit 1 offset ?";
const HITS =
  "select distinct e.deadline, e.confirmation from search_words w cross join searchable e on e.n = w.n ";
const ITS_CONFIRMATION = "cross join confirmations c on c.id = e.confirmation ";
const IN_CHUNK =
  "where (w.word, w.n) > (?, ?) and (w.word, w.n) <= (?, ?) " +
  `and (e.deadline, e.confirmation) > (?, ?) and ${FITS}`;
const IN_ORDER = " order by e.deadline, e.confirmation limit ?";
const STILL_OPEN =
  `from json_each(?) wanted cross join confirmations c on c.id = wanted.value ` +
  `${CALL_AND_SESSION}where c.status = 'requested' order by wanted.key`;

// How many entries are read at a time: about a millisecond.
const CHUNK = 1_000;
const BEFORE_ALL = -1;

type Hit = readonly [deadline: number, id: string];

interface Part {
  /** Only those that are listed behind this. */
  readonly after: Position;
  readonly wanted: number;
  /** Whose entries to read. */
  readonly word: string;
}

/**
 * The first of those that have the word, and fit: all its entries are read, in chunks, and the best are kept. Only
 * of these is it asked whether they are open still; where one is not, the next best is looked for.
 */
export async function readEntries(database: Database, search: Search, part: Part): Promise<readonly Row[]> {
  const closed = new Set<string>();
  for (;;) {
    const hits = await readHits(database, search, { ...part, closed });
    const rows = await database.read(() =>
      database.all(`select ${search.columns} ${STILL_OPEN}`, [JSON.stringify(hits)]),
    );
    if (rows.length === hits.length) return rows;
    const open = new Set(rows.map(([id]) => id));
    for (const id of hits) if (!open.has(id)) closed.add(id);
  }
}

interface Look extends Part {
  readonly closed: ReadonlySet<string>;
}

async function readHits(database: Database, search: Search, look: Look): Promise<readonly string[]> {
  const [from, before] = beginningWith(look.word);
  let best: readonly Hit[] = [];
  let place: readonly SqlValue[] | undefined = [from, BEFORE_ALL];
  while (place !== undefined) {
    const start: readonly SqlValue[] = place;
    place = await database.read(() => {
      const last = database.get(CHUNK_END, [...start, before, CHUNK - 1]);
      const chunk = readChunk(database, search, { ...look, start, end: last ?? [before, 0] });
      best = merge(best, chunk, look);
      return last;
    });
    // Others get their turn.
    await setImmediate();
  }
  return best.map(([, id]) => id);
}

function readChunk(
  database: Database,
  { patterns, narrowing }: Search,
  { start, end, after, wanted, closed }: Look & { readonly start: readonly SqlValue[]; readonly end: Row },
): readonly Hit[] {
  const { sql, values } = narrowing.all;
  const from = sql === "" ? HITS : HITS + ITS_CONFIRMATION;
  const given = [...start, ...end, ...after, ...patterns, ...values, wanted + closed.size];
  return database.all(from + IN_CHUNK + sql + IN_ORDER, given) as unknown as readonly Hit[];
}

// Words that begin alike give the same confirmation more than once.
function merge(a: readonly Hit[], b: readonly Hit[], { closed, wanted }: Look): readonly Hit[] {
  const byId = new Map([...a, ...b].map((hit) => [hit[1], hit]));
  return [...byId.values()]
    .filter(([, id]) => !closed.has(id))
    .sort(inOrder)
    .slice(0, wanted);
}

function inOrder([deadline, id]: Hit, [otherDeadline, otherId]: Hit): number {
  return deadline - otherDeadline || compareBytes(id, otherId);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
