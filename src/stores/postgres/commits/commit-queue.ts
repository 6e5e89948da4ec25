import type { CommitOutcome, StoreCommit, StoredItem } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Database, isGuardRaised, type Row } from "../connection/index.ts";
import { newChangeId } from "./change-id.ts";
import { commitStatement, type Sent, wantsOf } from "./commit-statement.ts";
import { eraseArchives } from "./erased-archives.ts";
import { toItem } from "./item-value.ts";
import { judge } from "./refusal.ts";
import type { WantedItems } from "./wanted-items.ts";

/** What became of a commit; where it was done, with the items that it wanted, if they were read. */
type Outcome =
  | { readonly ok: true; readonly wanted?: readonly StoredItem[] }
  | Extract<CommitOutcome, { readonly ok: false }>;
type Done = Extract<Outcome, { readonly ok: true }>;

interface Waiting extends Sent {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The most commits in one statement, and the most statements of one kind at a time. */
const MOST_TOGETHER = 64;
const MOST_UNDER_WAY = 4;
/** How often a commit is sent again that was refused for a reason that may pass. */
const MOST_TRIES = 5;
/** Errors that each commit alone would get too, only later: no second try one by one. */
const OF_ALL: ReadonlySet<string> = new Set([
  "ledger-unreachable",
  "closed",
  "ledger-newer",
  "ledger-mismatch",
]);

/**
 * Commits that wait while others are written go together into the next statement. Those that must be on disk go apart from
 * those that need not, so that these do not wait for it.
 */
export class CommitQueue {
  readonly #database: Database;
  readonly #wanted: WantedItems;
  readonly #synced: Lane;
  readonly #unsynced: Lane;

  constructor(
    database: Database,
    {
      alwaysSync,
      wanted,
      written,
    }: { readonly alwaysSync: boolean; readonly wanted: WantedItems; readonly written: () => void },
  ) {
    this.#database = database;
    this.#wanted = wanted;
    this.#synced = new Lane(database, { sync: true, written });
    this.#unsynced = alwaysSync ? this.#synced : new Lane(database, { sync: false, written });
  }

  async add(commit: StoreCommit): Promise<CommitOutcome> {
    const { items, wants, erase } = commit;
    const { writes } = this.#wanted;
    let outcome: Outcome;
    try {
      outcome = await this.#send(commit);
    } finally {
      if (items.length > 0 || erase === true) this.#wanted.written();
    }
    if (!outcome.ok) return outcome;
    if (wants !== undefined && outcome.wanted !== undefined) this.#wanted.keep(wants, outcome.wanted, writes);
    return { ok: true };
  }

  async #send(commit: StoreCommit): Promise<Outcome> {
    const lane = commit.sync ? this.#synced : this.#unsynced;
    if (commit.erase !== true) return lane.add({ id: newChangeId(), commit });
    const erased = await eraseArchives(this.#database, commit.key, commit.version);
    return lane.add({ id: newChangeId(), commit: withoutState(commit), erased });
  }
}

class Lane {
  readonly #database: Database;
  readonly #sync: boolean;
  readonly #written: () => void;
  /** Those whose answer was lost: whether they were done is not known until it is found out. */
  readonly #lost = new WeakSet<Waiting>();
  #waiting: Waiting[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(
    database: Database,
    { sync, written }: { readonly sync: boolean; readonly written: () => void },
  ) {
    this.#database = database;
    this.#sync = sync;
    this.#written = written;
  }

  add(sent: Sent): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...sent, resolve, reject });
      this.#schedule();
    });
  }

  // What is added in the same turn of the event loop goes together.
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= MOST_UNDER_WAY || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const [group, left] = takeGroup(this.#waiting);
      this.#waiting = left;
      this.#underWay += 1;
      this.#settle(group).then(this.#next, this.#next);
      this.#schedule();
    });
  }

  readonly #next = (): void => {
    this.#underWay -= 1;
    this.#schedule();
  };

  /** Settles every one of the group. */
  async #settle(group: readonly Waiting[]): Promise<void> {
    let done: ReadonlyMap<number, Done>;
    try {
      done = await this.#write(group);
    } catch (error) {
      await this.#settleSingly(group, error);
      return;
    }
    if (done.size > 0) this.#written();
    for (const [place, each] of group.entries()) {
      const outcome = done.get(place);
      if (outcome !== undefined) each.resolve(outcome);
      else this.#explain(each).catch((error: unknown) => this.#reject(each, error));
    }
  }

  /** One's fault is only its own: each is sent again alone. */
  async #settleSingly(group: readonly Waiting[], error: unknown): Promise<void> {
    const isOfAll = CountersignError.isInstance(error) && OF_ALL.has(error.code);
    const [first] = group;
    if (isOfAll) for (const each of group) each.reject(error);
    else if (group.length > 1) await Promise.all(group.map((each) => this.#settle([each])));
    else if (first !== undefined && isGuardRaised(error))
      await this.#explain(first).catch((thrown: unknown) => this.#reject(first, thrown));
    else if (first !== undefined) this.#reject(first, error);
  }

  #reject(each: Waiting, error: unknown): void {
    const isBusy = CountersignError.isInstance(error) && error.code === "ledger-busy";
    each.reject(isBusy && this.#lost.has(each) ? doubtful(this.#database.name, error) : error);
  }

  /** Finds out why it was not done, or does it after all. */
  async #explain(each: Waiting): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const outcome = (await judge(this.#database, each)) ?? (await this.#tryAgain(each));
      if (outcome?.ok === true) this.#written();
      if (outcome !== undefined) return each.resolve(outcome);
    }
    throw busy(this.#database.name);
  }

  async #tryAgain(each: Waiting): Promise<Outcome | undefined> {
    const done = await this.#write([each]).catch(unlessRaised);
    return done?.get(0);
  }

  /** Those that were done, by their places. */
  async #write(group: readonly Waiting[]): Promise<ReadonlyMap<number, Done>> {
    const { text, values } = commitStatement(group, this.#sync);
    const shared = !this.#sync && group[0]?.erased === undefined;
    // Where one waits for a lock, the others of its group need not: they are sent again alone.
    const onLost = (): void => {
      for (const each of group) this.#lost.add(each);
    };
    const rows = await this.#database.all(text, values, { shared, waitsOnce: group.length > 1, onLost });
    return new Map(rows.map((row) => toDone(group, row)));
  }
}

function toDone(group: readonly Waiting[], [at, , wanted = null]: Row): [place: number, done: Done] {
  const place = at as number;
  const each = group[place];
  if (each === undefined || wantsOf(each).length === 0) return [place, { ok: true }];
  const found = wanted === null ? [] : (JSON.parse(wanted as string) as readonly Row[]);
  return [place, { ok: true, wanted: found.map(toItem) }];
}

/**
 * At most one commit of each session: the next one names the version that this one makes. Items that are judged by their
 * version, or taken away, are touched by one commit only. Sorted, so that no two statements wait for each other's documents. A commit
 * that erases goes alone.
 */
function takeGroup(waiting: readonly Waiting[]): [group: readonly Waiting[], left: Waiting[]] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const taken = new Taken();
  for (const each of waiting) {
    const isAlone = each.erased !== undefined || group[0]?.erased !== undefined;
    const hasRoom = isAlone ? group.length === 0 : group.length < MOST_TOGETHER;
    const isFree = taken.add(each.commit);
    (hasRoom && isFree ? group : left).push(each);
  }
  return [group.sort((a, b) => (a.commit.key < b.commit.key ? -1 : 1)), left];
}

/** How a commit touches an item: it has it alone, lays members over it as others may, or checks it as others may. */
type Use = "alone" | "laid" | "checked";

/** What the commits ahead of one touch, whether they go into the same statement or wait. */
class Taken {
  readonly #sessions = new Set<string>();
  readonly #items = new Map<string, Use>();

  /** Does nobody ahead stand in the way? */
  add({ key, items, checks = [] }: StoreCommit): boolean {
    let isFree = !this.#sessions.has(key);
    this.#sessions.add(key);
    for (const item of items) {
      const isAlone = item.read !== undefined || item.value === undefined;
      if (!this.#use(item, isAlone ? "alone" : "laid")) isFree = false;
    }
    for (const item of checks) if (!this.#use(item, "checked")) isFree = false;
    return isFree;
  }

  #use({ kind, id }: Pick<StoredItem, "kind" | "id">, use: Use): boolean {
    const item = `${kind}\n${id}`;
    const known = this.#items.get(item);
    const isShared = use !== "alone" && known === use;
    this.#items.set(item, known === undefined || isShared ? use : "alone");
    return known === undefined || isShared;
  }
}

/** With what was said the state goes too. */
function withoutState(commit: StoreCommit): StoreCommit {
  const kind = "state of session";
  const items = commit.items.filter((item) => item.kind !== kind || item.id !== commit.key);
  return { ...commit, items: [...items, { kind, id: commit.key }] };
}

function unlessRaised(error: unknown): undefined {
  if (!isGuardRaised(error)) throw error;
}

function doubtful(name: string, cause: unknown): CountersignError {
  return new CountersignError(
    "ledger-unreachable",
    `Connection to the ledger "${name}" lost; it is unknown whether the commit happened. Read it again.`,
    { details: { ledger: name }, cause },
  );
}

function busy(name: string): CountersignError {
  return new CountersignError(
    "ledger-busy",
    `A commit to the ledger "${name}" conflicted with other commits ${MOST_TRIES} times. Try again.`,
    { details: { ledger: name } },
  );
}
