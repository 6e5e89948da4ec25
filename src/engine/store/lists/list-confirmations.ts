import { CountersignError } from "../../../protocol/index.ts";
import { sessionOf } from "../../common/index.ts";
import {
  type CallRecord,
  type ConfirmationFilter,
  type ConfirmationRecord,
  type ConfirmationWithCall,
  type ListRequest,
  type Page,
  turnOf,
  wordsOf,
} from "../../ledger/index.ts";
import { shownStatus } from "../../lifecycle/index.ts";
import { isWithinScope, viewersOf } from "../../people/index.ts";
import type { Packed } from "../document.ts";
import { NO_DEADLINE, OPEN_FACETS } from "../entries.ts";
import { copyRow } from "../long-values.ts";
import { afterOf, limitOf, toPage } from "../pages.ts";
import { SessionRows } from "../rows.ts";
import type { Entry, EntryQuery, Store } from "../store.ts";
import { compareEntries, mergedEntries } from "./merged-entries.ts";
import { termsOf, WORD_FACET, type WordIndex, withWords } from "./word-index.ts";

/** How many are looked through at a time. */
const WINDOW = 200;
/** How much of the list is looked through for words before the index of words is asked. */
const NEARBY = 2_000;
/** Up to this many questions with a word are looked up one by one. */
const MOST_HITS = 2_000;
const MOST_WORDS = 20;
/** The size of a page on which long values are cut. */
const MOST_BYTES = 1_000_000;

type Place = readonly [sort: number, id: string];

/** Questions to people: open ones by their deadline, the others by when they were asked, newest first. */
export async function listConfirmations(
  { store, index }: { readonly store: Store; readonly index: WordIndex },
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const open = filter.state === "open";
  if (open && filter.status !== undefined && !filter.status.includes("requested")) return { items: [] };
  const words = filter.words === undefined ? undefined : termsOf(wordsOf(filter.words));
  if (words !== undefined) {
    checkWords(words, open);
    if (words.length === 0) return { items: [] };
    await index.update();
  }
  const page = new PageOfConfirmations(filter, request, words);
  // Common words are found soon by looking through the list. For rare ones the index of words is asked; not where only
  // some may be seen, since how long that takes depends on what others have.
  const searches = words !== undefined && filter.viewers === undefined;
  const isDone = await walk(store, filter, { page, most: searches ? NEARBY : Number.POSITIVE_INFINITY });
  if (!isDone) {
    const hits = await rarestHits(store, words ?? []);
    if (hits === undefined) await walk(store, filter, { page, most: Number.POSITIVE_INFINITY });
    else await lookUp(store, page, hits);
  }
  return page.result();
}

/** Reads the list until the page is full, but no more than `most` entries. False: there may be more. */
async function walk(
  store: Store,
  filter: ConfirmationFilter,
  { page, most }: { readonly page: PageOfConfirmations; readonly most: number },
): Promise<boolean> {
  const { limit } = page;
  const window = isNarrow(filter) ? limit + 1 : Math.max(WINDOW, limit + 1);
  for (let seen = 0; seen < most; ) {
    const entries = await nextEntries(store, filter, { place: page.place, window });
    for (const item of await page.read(store, entries)) if (page.take(item)) return true;
    const last = entries.at(-1);
    if (last === undefined || entries.length < window) return true;
    page.place = [last.sort, last.id];
    seen += entries.length;
    // Others get their turn.
    await store.pause();
  }
  return false;
}

/** Questions that have the rarest of these words; undefined where each has too many. */
async function rarestHits(store: Store, words: readonly string[]): Promise<readonly Entry[] | undefined> {
  const pages = await store.entries(
    words.map((value) => ({ facet: WORD_FACET, value, prefix: true as const, limit: MOST_HITS + 1 })),
  );
  const [fewest] = pages.toSorted((a, b) => a.length - b.length);
  return fewest === undefined || fewest.length > MOST_HITS ? undefined : fewest;
}

async function lookUp(store: Store, page: PageOfConfirmations, hits: readonly Entry[]): Promise<void> {
  const [sort, id] = page.place;
  const distinct = new Map(hits.map((entry) => [entry.id, entry]));
  const ahead = [...distinct.values()]
    .filter((entry) => compareEntries(entry, { sort, id }) > 0)
    .sort(compareEntries);
  for (let at = 0; at < ahead.length; at += WINDOW) {
    for (const item of await page.read(store, ahead.slice(at, at + WINDOW))) if (page.take(item)) return;
    await store.pause();
  }
}

/** One page while it is filled. */
class PageOfConfirmations {
  readonly limit: number;
  /** Up to here the list was looked through. */
  place: Place;
  readonly #filter: ConfirmationFilter;
  readonly #request: ListRequest | undefined;
  readonly #words: readonly string[] | undefined;
  readonly #found: ConfirmationWithCall[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(
    filter: ConfirmationFilter,
    request: ListRequest | undefined,
    words: readonly string[] | undefined,
  ) {
    this.#filter = filter;
    this.#request = request;
    this.#words = words;
    this.limit = limitOf(request);
    this.place = afterOf(request, filter.state === "open" ? FIRST : LAST);
  }

  async read(store: Store, entries: readonly Entry[]): Promise<readonly ConfirmationWithCall[]> {
    const wanted = this.#words === undefined ? entries : await withWords(store, entries, this.#words);
    return readAll(store, wanted, this.#request);
  }

  /** True once it has all that it may have. */
  take(item: ConfirmationWithCall): boolean {
    if (!fits(this.#filter, item)) return false;
    if (this.#request?.preview === true) {
      this.#bytes += sizeOf(item);
      this.#isCut = this.#bytes > MOST_BYTES && this.#found.length > 0;
      if (this.#isCut) return true;
    }
    this.#found.push(item);
    return this.#found.length > this.limit;
  }

  result(): Page<ConfirmationWithCall> {
    const position = this.#filter.state === "open" ? byDeadline : byTime;
    if (!this.#isCut) return toPage(this.#found, this.limit, position);
    // One more than it has, so that the page has a next one.
    return toPage([...this.#found, ...this.#found.slice(-1)], this.#found.length, position);
  }
}

const FIRST: Place = [Number.MIN_SAFE_INTEGER, ""];
const LAST: Place = [Number.MAX_SAFE_INTEGER, "\u{10ffff}"];

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
  delegated = [],
  status,
  turn,
  words,
}: ConfirmationFilter): boolean {
  if (delegated.some(({ scope }) => scope !== undefined)) return false;
  const conditions = [app, agent, tool, user, session, viewers, turn].filter((each) => each !== undefined);
  return conditions.length <= 1 && status === undefined && words === undefined;
}

/** The next entries of the facet that leaves the fewest; of several viewers, each question once. */
async function nextEntries(
  store: Store,
  filter: ConfirmationFilter,
  { place, window }: { readonly place: Place; readonly window: number },
): Promise<readonly Entry[]> {
  const { state, session } = filter;
  const viewers = filter.viewers && [
    ...new Set([...filter.viewers, ...(filter.delegated ?? []).map(({ viewer }) => viewer)]),
  ];
  if (state === "open" && session !== undefined) return openIn(store, session, { place, window });
  const range = {
    limit: window,
    after: place,
    ...(state === "closed" ? { newestFirst: true as const } : {}),
  };
  const lead = leadOf(filter);
  const queries: readonly EntryQuery[] =
    viewers !== undefined && session === undefined
      ? viewers.map((value) => ({ facet: `${state} viewer`, value, ...range }))
      : [{ ...lead, ...range }];
  if (queries.length > 1) return mergedEntries(store, queries, window);
  const [page = []] = await store.entries(queries);
  return page;
}

/** The open questions of one session, in the order of the list. */
async function openIn(
  store: Store,
  session: string,
  { place: [sort, id], window }: { readonly place: Place; readonly window: number },
): Promise<readonly Entry[]> {
  const { confirmations } = (await store.load({ key: session }))?.document ?? { confirmations: [] };
  return confirmations
    .filter(({ status }) => status === "requested")
    .map(({ id: own, expiresAt = NO_DEADLINE }) => ({ facet: "open", value: "", sort: expiresAt, id: own }))
    .filter((entry) => compareEntries(entry, { sort, id }) > 0)
    .sort(compareEntries)
    .slice(0, window);
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
  { long: ofCall, ...call }: Packed<CallRecord>,
  session: { readonly id: string },
): ConfirmationWithCall {
  const cut = ofConfirmation !== undefined || ofCall !== undefined;
  return {
    confirmation: copyRow(confirmation),
    call: copyRow(call),
    session,
    ...(cut ? { truncated: true as const } : {}),
  };
}

function fits(filter: ConfirmationFilter, { confirmation, call }: ConfirmationWithCall): boolean {
  const { state, status, turn } = filter;
  if ((confirmation.status === "requested") !== (state === "open")) return false;
  const { session = confirmation.session } = filter;
  if (confirmation.session !== session) return false;
  if (OPEN_FACETS.some((facet) => filter[facet] !== undefined && confirmation[facet] !== filter[facet]))
    return false;
  if (!isShown(filter, confirmation)) return false;
  if (status !== undefined && !status.includes(shownStatus(confirmation.status, call.status))) return false;
  return turn === undefined || turn === turnOf(call);
}

function isShown({ viewers, delegated = [] }: ConfirmationFilter, confirmation: ConfirmationRecord): boolean {
  if (viewers === undefined) return true;
  const shown = viewersOf(confirmation);
  return (
    shown.some((viewer) => viewers.includes(viewer)) ||
    delegated.some(({ viewer, scope }) => shown.includes(viewer) && isWithinScope(scope, confirmation))
  );
}

function sizeOf(item: ConfirmationWithCall): number {
  return Buffer.byteLength(JSON.stringify(item));
}

function checkWords(words: readonly string[], open: boolean): void {
  if (!open) throw malformed("Only open confirmations can be searched for words.");
  if (words.length > MOST_WORDS)
    throw malformed(`The search has ${words.length} words. Use at most ${MOST_WORDS}.`);
}

function malformed(message: string): CountersignError {
  return new CountersignError("malformed-request", message, { details: { field: "words" } });
}
