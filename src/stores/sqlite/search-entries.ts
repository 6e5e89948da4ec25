import { setImmediate } from "node:timers/promises";
import { BOTH, CALL_AND_SESSION } from "./confirmation-rows.ts";
import type { Database } from "./database.ts";
import type { Row, SqlValue } from "./driver.ts";
import type { Position } from "./pages.ts";
import { beginningWith, FITS, type Search } from "./search-terms.ts";

const CHUNK_END =
  "select word, n from search_words where (word, n) > (?, ?) and word < ? order by word, n limit 1 offset ?";
const HITS =
  "select distinct c.deadline, c.id from search_words w cross join searchable e on e.n = w.n " +
  "cross join confirmations c on c.id = e.confirmation " +
  "where (w.word, w.n) > (?, ?) and (w.word, w.n) <= (?, ?) " +
  `and c.status = 'requested' and (c.deadline, c.id) > (?, ?) and ${FITS}`;
const HITS_IN_ORDER = " order by c.deadline, c.id limit ?";
const STILL_OPEN =
  `select ${BOTH} from json_each(?) wanted cross join confirmations c on c.id = wanted.value ` +
  `${CALL_AND_SESSION}where c.status = 'requested' order by wanted.key`;

// How many entries are read at a time: a few milliseconds.
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

/** The first of those that have the word, and fit: all its entries are read, in chunks, and the best are kept. */
export async function readEntries(database: Database, search: Search, part: Part): Promise<readonly Row[]> {
  for (;;) {
    const hits = await readHits(database, search, part);
    const ids = JSON.stringify(hits.map(([, id]) => id));
    const rows = await database.read(() => database.all(STILL_OPEN, [ids]));
    // One that was closed meanwhile leaves a gap, which would look like the last page.
    if (rows.length === hits.length) return rows;
    await setImmediate();
  }
}

async function readHits(database: Database, search: Search, part: Part): Promise<readonly Hit[]> {
  const [from, before] = beginningWith(part.word);
  let best: readonly Hit[] = [];
  let place: readonly SqlValue[] | undefined = [from, BEFORE_ALL];
  while (place !== undefined) {
    const start: readonly SqlValue[] = place;
    const end = await database.read(() => {
      const last = database.get(CHUNK_END, [...start, before, CHUNK - 1]);
      best = merge(
        best,
        readChunk(database, search, { ...part, start, end: last ?? [before, 0] }),
        part.wanted,
      );
      return last;
    });
    place = end;
    // Others get their turn.
    await setImmediate();
  }
  return best;
}

function readChunk(
  database: Database,
  { patterns, narrowing }: Search,
  { start, end, after, wanted }: Part & { readonly start: readonly SqlValue[]; readonly end: Row },
): readonly Hit[] {
  const { sql, values } = narrowing.all;
  const given = [...start, ...end, ...after, ...patterns, ...values, wanted];
  return database.all(HITS + sql + HITS_IN_ORDER, given) as unknown as readonly Hit[];
}

// Words that begin alike give the same confirmation more than once.
function merge(a: readonly Hit[], b: readonly Hit[], most: number): readonly Hit[] {
  const byId = new Map([...a, ...b].map((hit) => [hit[1], hit]));
  return [...byId.values()].sort(inOrder).slice(0, most);
}

function inOrder([deadline, id]: Hit, [otherDeadline, otherId]: Hit): number {
  return deadline - otherDeadline || compareBytes(id, otherId);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
