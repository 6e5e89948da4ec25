import { confirmationPrefix, sessionOf } from "../../common/index.ts";
import {
  type CallRecord,
  type ConfirmationRecord,
  type LogRow,
  searchableWords,
} from "../../ledger/index.ts";
import type { Packed } from "../document.ts";
import { NO_DEADLINE } from "../entries.ts";
import { SessionRows } from "../rows.ts";
import type { Entry, ItemChange, LoadedDocument, Store, StoreChange } from "../store.ts";

/** Entries by which open questions are found by their words. */
export const WORD_FACET = "open word";

const PLACE = { kind: "word index", id: "place" } as const;
const INDEXED = "words of question";
/** Lines of the log that are looked at together. */
const BATCH = 200;
const MOST_BYTES = 4_000_000;
const MOST_ENTRIES = 20_000;
/** Questions that are read together: each may have thousands of words. */
const QUESTIONS = 20;

/** The words of a question as they were indexed. */
interface Indexed {
  readonly words: readonly string[];
  readonly sort: number;
  readonly argsDigest: string;
}

/**
 * Brings the index of words to where the log ends. The log says in which sessions something changed; what is open there is
 * read from the documents. Done when somebody searches or tidies, so that commits do not pay for it. Any number of
 * processes may do this at once.
 */
async function catchUp(store: Store): Promise<void> {
  for (;;) {
    const [item] = await store.items([PLACE]);
    const after = (item?.value ?? 0) as number;
    const rows = await store.log({ after, limit: BATCH, bytes: MOST_BYTES });
    if (rows.length === 0) return;
    const { upTo, changes } = await changesAfter(store, rows);
    // False: another process was first. It goes on from there.
    await store.change({
      items: [{ ...PLACE, value: upTo, read: item?.version ?? 0 }, ...changes.flatMap(({ items }) => items)],
      add: changes.flatMap(({ add = [] }) => add),
      remove: changes.flatMap(({ remove = [] }) => remove),
    });
  }
}

/** What these lines change in the index, no more than a statement can write in its time. */
async function changesAfter(
  store: Store,
  rows: readonly LogRow[],
): Promise<{ readonly upTo: number; readonly changes: readonly StoreChange[] }> {
  const changes: StoreChange[] = [];
  const looked = new Set<string>();
  let upTo = 0;
  let entries = 0;
  for (const { session, seq } of rows) {
    if (entries >= MOST_ENTRIES) break;
    upTo = seq;
    // One after the other: each may have megabytes of arguments.
    const loaded = looked.has(session) ? undefined : await store.load({ key: session });
    looked.add(session);
    if (loaded === undefined) continue;
    const change = await changesOf(store, loaded);
    entries += sizeOf(change);
    changes.push(change);
  }
  return { upTo, changes };
}

function sizeOf({ add = [], remove = [] }: StoreChange): number {
  return add.length + remove.length;
}

/**
 * Keeps the index of words. In one process it is brought up to date once for all who ask at the same time: for those who
 * came after it had begun, once more.
 */
export class WordIndex {
  readonly #store: Store;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Everything that was committed before this is called is in the index when it resolves. */
  async update(): Promise<void> {
    if (this.#running === undefined) return this.#run();
    this.#next ??= this.#running.catch(() => {}).then(() => this.#run());
    return this.#next;
  }

  #run(): Promise<void> {
    this.#next = undefined;
    this.#running = catchUp(this.#store).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}

/** Only the beginning of a longer word counts: an index cannot hold texts of any length. */
const LONGEST_TERM = 64;

/** Words as they are indexed and looked for. */
export function termsOf(words: readonly string[]): readonly string[] {
  const terms = new Set(
    words.map((word) =>
      Array.from(word.slice(0, 2 * LONGEST_TERM))
        .slice(0, LONGEST_TERM)
        .join(""),
    ),
  );
  return [...terms];
}

/** Those of these questions in which every word is, or begins a word. */
export async function withWords(
  store: Store,
  questions: readonly Entry[],
  words: readonly string[],
): Promise<readonly Entry[]> {
  const items = await store.items(questions.map(({ id }) => ({ kind: INDEXED, id })));
  const fit = new Set(
    items
      .filter(({ value }) => {
        const indexed = (value as unknown as Indexed).words;
        return words.every((word) => indexed.some((each) => each.startsWith(word)));
      })
      .map(({ id }) => id),
  );
  return questions.filter(({ id }) => fit.has(id));
}

/** What the index has to change for one session. */
async function changesOf(store: Store, { key, document }: LoadedDocument): Promise<StoreChange> {
  const rows = new SessionRows(store, key, document);
  const indexed = await indexedOf(store, key);
  const open = document.confirmations.filter(({ status }) => status === "requested");
  const items: ItemChange[] = [];
  const add: Entry[] = [];
  const remove: Entry[] = [];
  for (const { id, value, version } of indexed) {
    if (open.some((each) => each.id === id)) continue;
    items.push({ kind: INDEXED, id, read: version });
    remove.push(...entriesOf(id, value));
  }
  for (const packed of open) {
    const before = indexed.find(({ id }) => id === packed.id);
    const call = document.calls.find(({ id }) => id === packed.call);
    if (call === undefined || before?.value.argsDigest === call.argsDigest) continue;
    const after = await indexOf(rows, packed, call);
    items.push({ kind: INDEXED, id: packed.id, value: { ...after }, read: before?.version ?? 0 });
    if (before !== undefined) remove.push(...entriesOf(packed.id, before.value));
    add.push(...entriesOf(packed.id, after));
  }
  return { items, add, remove };
}

async function indexOf(
  rows: SessionRows,
  { tool, agent, expiresAt = NO_DEADLINE }: Packed<ConfirmationRecord>,
  packed: Packed<CallRecord>,
): Promise<Indexed> {
  const call = await rows.whole<CallRecord>(packed, packed.id);
  return {
    words: termsOf(searchableWords({ tool, agent }, call)),
    sort: expiresAt,
    argsDigest: call.argsDigest,
  };
}

async function indexedOf(
  store: Store,
  session: string,
): Promise<readonly { readonly id: string; readonly value: Indexed; readonly version: number }[]> {
  const first = confirmationPrefix(session);
  const found: { id: string; value: Indexed; version: number }[] = [];
  for (let after = first; ; ) {
    const page = await store.itemsOf(INDEXED, { after, limit: QUESTIONS });
    for (const { id, value, version } of page)
      if (sessionOf(id) === session) found.push({ id, value: value as unknown as Indexed, version });
    const last = page.at(-1);
    if (last === undefined || page.length < QUESTIONS || !last.id.startsWith(first)) return found;
    after = last.id;
  }
}

function entriesOf(id: string, { words, sort }: Indexed): readonly Entry[] {
  return words.map((value) => ({ facet: WORD_FACET, value, sort, id }));
}
