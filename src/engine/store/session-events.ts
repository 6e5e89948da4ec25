import type { StoredEvent } from "../../protocol/index.ts";
import { eventsOf } from "../journal/index.ts";
import type { EventRange, LogRow } from "../ledger/index.ts";
import type { LoadedDocument, LogRange, Store } from "./store.ts";

const PAGE = { limit: 200, bytes: 4_000_000 };

/** A session's events from the first on. */
export async function readFirstEvents(
  store: Store,
  key: string,
  { limit = Number.MAX_SAFE_INTEGER, bytes }: EventRange,
): Promise<readonly StoredEvent[]> {
  const enough = (found: readonly StoredEvent[]): boolean => found.length >= limit || isCut(found, bytes);
  // Whoever wants few events does not have many lines read for them.
  const page = { limit: Math.min(PAGE.limit, limit), bytes: Math.min(PAGE.bytes, bytes ?? PAGE.bytes) };
  return within((await readBehind(store, key, { row: 0, first: 0, enough, page })).slice(0, limit), bytes);
}

/** A session's events, in order: those after a place, or the newest ones. */
export async function readEvents(
  store: Store,
  { key, version, document }: Pick<LoadedDocument, "key" | "version" | "document">,
  { after = 0, limit = Number.MAX_SAFE_INTEGER, last, bytes }: EventRange,
): Promise<readonly StoredEvent[]> {
  const events = document.head.nextSeq - 1;
  const first = last === undefined ? after : Math.max(after, events - last);
  const most = last ?? limit;
  if (first >= events || most === 0) return [];
  const row = await rowBefore(store, key, { first, end: { n: version, events } });
  const enough = (found: readonly StoredEvent[]): boolean =>
    found.length >= most || (last === undefined && isCut(found, bytes));
  const found = await readBehind(store, key, { row, first, enough });
  if (last === undefined) return within(found.slice(0, most), bytes);
  return within(found.toReversed().slice(0, most), bytes).toReversed();
}

interface Behind {
  /** The line of the session's log to begin after. */
  readonly row: number;
  readonly first: number;
  readonly enough: (found: readonly StoredEvent[]) => boolean;
  readonly page?: Pick<LogRange, "limit" | "bytes">;
}

/** The events behind a place, until there are enough. */
async function readBehind(
  store: Store,
  key: string,
  { row, first, enough, page = PAGE }: Behind,
): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let n = row; !enough(found); ) {
    const rows = await store.log({ session: key, after: n, ...page });
    for (const each of rows) found.push(...eventsBehind(each, first));
    // A page is short where lines are long.
    const newest = rows.at(-1);
    if (newest === undefined) return found;
    n = newest.n;
  }
  return found;
}

/** A line of the session's log at which the number of events is known. */
interface Point {
  readonly n: number;
  readonly events: number;
}

/** The most search steps; after that, the rest is read in order. */
const MOST_LOOKS = 40;

/**
 * A line of the session's log behind which all events after `first` are, and few others. Lines have about as many events
 * each, so it is looked for where it would be then, and the session's length hardly matters.
 */
async function rowBefore(
  store: Store,
  key: string,
  { first, end }: { readonly first: number; readonly end: Point },
): Promise<number> {
  let low: Point = { n: 0, events: 0 };
  let high = end;
  for (let look = 0; look < MOST_LOOKS && first > low.events && high.n - low.n > 1; look += 1) {
    const share = (first - low.events) / Math.max(1, high.events - low.events);
    // Every other look halves, whatever the events are spread like.
    const guess = look % 2 === 0 ? share : 0.5;
    const n = Math.min(high.n - 1, Math.max(low.n + 1, low.n + Math.floor(guess * (high.n - low.n))));
    const [row] = await store.log({ session: key, after: n - 1, limit: 1 });
    if (row === undefined) return low.n;
    if (row.events <= first) low = { n: row.n, events: row.events };
    else high = { n: row.n, events: row.events };
    if (first - low.events < FEW) return low.n;
  }
  return low.n;
}

/** Reading this many events too many is cheaper than another search. */
const FEW = 20;

function eventsBehind(row: LogRow, first: number): readonly StoredEvent[] {
  if (row.events <= first) return [];
  const events = eventsOf(row);
  return events.slice(Math.max(0, first - (row.events - events.length)));
}

function isCut(found: readonly StoredEvent[], bytes: number | undefined): boolean {
  return bytes !== undefined && within(found, bytes).length < found.length;
}

/** As many as fit into this many bytes together, but at least one. */
function within(events: readonly StoredEvent[], bytes: number | undefined): readonly StoredEvent[] {
  if (bytes === undefined) return events;
  let left = bytes;
  const end = events.findIndex((event, at) => {
    left -= Buffer.byteLength(JSON.stringify(event));
    return left < 0 && at > 0;
  });
  return end < 0 ? events : events.slice(0, end);
}
