import { setImmediate } from "node:timers/promises";
import { CountersignError } from "../../protocol/index.ts";
import type {
  CallRecord,
  ConfirmationFilter,
  ConfirmationRecord,
  ConfirmationWithCall,
  ListRequest,
  Page,
} from "../ledger/index.ts";
import { searchableWords, wordsOf } from "../ledger/search-words.ts";
import { shownStatus } from "../lifecycle/index.ts";
import { viewersOf } from "../people/index.ts";
import { type Packed, sessionOf } from "./document.ts";
import { NO_DEADLINE, OPEN_FACETS } from "./entries.ts";
import { afterOf, limitOf, toPage } from "./pages.ts";
import { SessionRows } from "./rows.ts";
import type { Entry, EntryQuery, Store } from "./store.ts";

/** How many are looked through at a time. */
const WINDOW = 200;
/** Of what is listed with long values cut. */
const MOST_BYTES = 1_000_000;
const MOST_WORDS = 20;

type Place = readonly [sort: number, id: string];

/** Questions to people: open ones by their deadline, the others by when they were asked, newest first. */
export async function listConfirmations(
  store: Store,
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const limit = limitOf(request);
  const open = filter.state === "open";
  if (open && filter.status !== undefined && !filter.status.includes("requested")) return { items: [] };
  if (filter.words !== undefined && !canBeFound(filter.words, open)) return { items: [] };
  let place: Place = afterOf(request, open ? FIRST : LAST);
  const found: ConfirmationWithCall[] = [];
  const window = isNarrow(filter) ? limit + 1 : Math.max(WINDOW, limit + 1);
  for (let bytes = 0; ; ) {
    const entries = await nextEntries(store, filter, { place, window });
    for (const item of await readAll(store, entries, request)) {
      if (!fits(filter, item)) continue;
      found.push(item);
      if (request?.preview === true) bytes += sizeOf(item);
      if (bytes > MOST_BYTES && found.length > 1) {
        found.pop();
        return cutShort(found, open);
      }
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < window || found.length > limit) break;
    place = [last.sort, last.id];
    // Others get their turn.
    await setImmediate();
  }
  return toPage(found, limit, open ? byDeadline : byTime);
}

const FIRST: Place = [Number.MIN_SAFE_INTEGER, ""];
const LAST: Place = [Number.MAX_SAFE_INTEGER, "\u{10ffff}"];

function cutShort(found: readonly ConfirmationWithCall[], open: boolean): Page<ConfirmationWithCall> {
  // One more than asked for, so that the page has a next one.
  return toPage([...found, ...found.slice(-1)], found.length, open ? byDeadline : byTime);
}

function byDeadline({ confirmation: { expiresAt = NO_DEADLINE, id } }: ConfirmationWithCall): Place {
  return [expiresAt, id];
}

function byTime({ confirmation: { requestedAt, id } }: ConfirmationWithCall): Place {
  return [requestedAt, id];
}

function isNarrow({
  app,
  agent,
  tool,
  user,
  session,
  viewers,
  status,
  turn,
  words,
}: ConfirmationFilter): boolean {
  const conditions = [app, agent, tool, user, session, viewers, turn].filter((each) => each !== undefined);
  return conditions.length <= 1 && status === undefined && words === undefined;
}

/** The next entries of the facet that leaves the fewest; of several viewers, each question once. */
async function nextEntries(
  store: Store,
  filter: ConfirmationFilter,
  { place, window }: { readonly place: Place; readonly window: number },
): Promise<readonly Entry[]> {
  const { state, viewers } = filter;
  const page = { limit: window, after: place, ...(state === "closed" ? { newestFirst: true as const } : {}) };
  const lead = leadOf(filter);
  const queries: readonly EntryQuery[] =
    viewers !== undefined && filter.session === undefined
      ? viewers.map((value) => ({ facet: `${state} viewer`, value, ...page }))
      : [{ ...lead, ...page }];
  const pages = await store.entries(queries);
  if (pages.length === 1) return pages[0] ?? [];
  const distinct = new Map(pages.flat().map((entry) => [entry.id, entry]));
  const sign = state === "open" ? 1 : -1;
  return [...distinct.values()].sort((a, b) => sign * compare(a, b)).slice(0, window);
}

function leadOf(filter: ConfirmationFilter): { readonly facet: string; readonly value: string } {
  if (filter.state === "closed") {
    const { session } = filter;
    return session === undefined
      ? { facet: "closed", value: "" }
      : { facet: "closed session", value: session };
  }
  for (const facet of OPEN_FACETS) {
    const value = filter[facet];
    if (value !== undefined) return { facet: `open ${facet}`, value };
  }
  return { facet: "open", value: "" };
}

function compare(a: Entry, b: Entry): number {
  return a.sort - b.sort || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}

async function readAll(
  store: Store,
  entries: readonly Entry[],
  request: ListRequest | undefined,
): Promise<readonly ConfirmationWithCall[]> {
  const loaded = await store.loadAll([...new Set(entries.map(({ id }) => sessionOf(id)))]);
  const sessions = new Map(loaded.map(({ key, document }) => [key, document]));
  const items: ConfirmationWithCall[] = [];
  for (const { id } of entries) {
    const key = sessionOf(id);
    const document = sessions.get(key);
    if (document === undefined) continue;
    const rows = new SessionRows(store, key, document);
    const confirmation = await rows.packedConfirmation(id);
    const call = confirmation && (await rows.packedCall(confirmation.call));
    if (confirmation === undefined || call === undefined) continue;
    const session = { id: document.head.id };
    items.push(
      request?.preview === true
        ? preview(confirmation, call, session)
        : {
            confirmation: await rows.whole<ConfirmationRecord>(confirmation, id),
            call: await rows.whole<CallRecord>(call, call.id),
            session,
          },
    );
  }
  return items;
}

function preview(
  { long: ofConfirmation, ...confirmation }: Packed<ConfirmationRecord>,
  { long: ofCall, originalArgs: _unlisted, ...call }: Packed<CallRecord>,
  session: { readonly id: string },
): ConfirmationWithCall {
  const cut = ofConfirmation !== undefined || ofCall !== undefined;
  return { confirmation, call, session, ...(cut ? { truncated: true as const } : {}) };
}

function fits(filter: ConfirmationFilter, { confirmation, call }: ConfirmationWithCall): boolean {
  const { state, viewers, status, turn, words } = filter;
  if ((confirmation.status === "requested") !== (state === "open")) return false;
  if (OPEN_FACETS.some((facet) => filter[facet] !== undefined && confirmation[facet] !== filter[facet]))
    return false;
  if (viewers !== undefined && !viewersOf(confirmation).some((viewer) => viewers.includes(viewer)))
    return false;
  if (status !== undefined && !status.includes(shownStatus(confirmation.status, call.status))) return false;
  if (turn !== undefined && turn !== turnOf(call)) return false;
  return words === undefined || hasWords(words, confirmation, call);
}

// `<frame>.<number>`, or the id of a call that no model made.
function turnOf({ id, frame, turn }: CallRecord): string {
  return frame === undefined ? id : `${frame}.${turn}`;
}

/** Is there a word to look for? */
function canBeFound(words: string, open: boolean): boolean {
  const details = { field: "words" };
  if (!open)
    throw new CountersignError("malformed-request", "Only open confirmations can be searched for words.", {
      details,
    });
  const count = wordsOf(words).length;
  if (count > MOST_WORDS)
    throw new CountersignError(
      "malformed-request",
      `The search has ${count} words. Use at most ${MOST_WORDS}.`,
      { details },
    );
  return count > 0;
}

function hasWords(words: string, confirmation: ConfirmationRecord, call: CallRecord): boolean {
  const all = searchableWords(confirmation, call);
  return wordsOf(words).every((word) => all.some((each) => each.startsWith(word)));
}

function sizeOf(item: ConfirmationWithCall): number {
  return Buffer.byteLength(JSON.stringify(item));
}
