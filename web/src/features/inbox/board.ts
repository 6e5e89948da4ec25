import type { ListOptions } from "countersign/client";
import { ask, client, type Problem } from "../../api/client.ts";
import { type Connection, follow } from "../../api/feed.ts";
import { pages } from "../../api/pages.ts";
import type { Confirmation, Me } from "../../api/types.ts";
import { Store } from "../../ui/store.ts";
import { ownDrafts } from "../confirmation/forms/drafts.ts";
import { keepWhole } from "./keep-whole.ts";

/** Everything this page knows of confirmations. A new object with every change; the map is one and the same. */
export interface BoardState {
  readonly confirmations: ReadonlyMap<string, Confirmation>;
  readonly connection: Connection;
  /** The first complete reading is done. */
  readonly loaded: boolean;
  /** There are more than are kept here. */
  readonly partial: boolean;
  readonly problem?: Problem;
  readonly me?: Me;
}

/** The limit of stored rows, nearest deadlines first. The rest is found with filters. */
export const MOST = 10_000;
const PAGE = 200;
const SETTLE_MS = 50;
/** How many of the rows that disappeared while offline are looked up to show their outcome. */
const LOOKED_UP = 20;

/** What waits, live: read once in full, then kept by the stream. The server is the truth; this is a view of it. */
class Board extends Store<BoardState> {
  readonly #confirmations = new Map<string, Confirmation>();
  /** Counts what the stream has told, and when it last told of each. */
  #tellings = 0;
  readonly #toldAt = new Map<string, number>();
  #readings = 0;
  #isPublishing = false;
  #started = false;

  constructor() {
    super({ confirmations: new Map(), connection: "connecting", loaded: false, partial: false });
  }

  /** Begins to listen; once. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    follow({
      onReady: () => this.reload(),
      onConfirmation: (confirmation) => this.#tell(confirmation),
      onConnection: (connection) => this.#publish({ connection }),
    }).catch(() => undefined);
    this.#readMe().catch(() => undefined);
  }

  /** To be taken before something is asked for, and given back with the answer. */
  mark(): number {
    return this.#tellings;
  }

  /** Takes an answer about a confirmation, unless the stream has sent a newer one since. */
  put(confirmation: Confirmation, mark: number): void {
    if ((this.#toldAt.get(confirmation.id) ?? 0) > mark) return;
    this.#keep(confirmation);
  }

  #tell(confirmation: Confirmation): void {
    this.#toldAt.set(confirmation.id, ++this.#tellings);
    this.#keep(confirmation);
  }

  #keep(confirmation: Confirmation): void {
    const known = this.#confirmations.get(confirmation.id);
    this.#confirmations.set(confirmation.id, keepWhole(known, confirmation));
    this.#publishSoon();
  }

  /** Makes everyone look again at what is here. */
  refresh(): void {
    this.#publish({});
  }

  /** Reads everything again. A reading that a newer one overtakes is dropped. */
  reload(): void {
    this.#read(++this.#readings).catch(() => undefined);
  }

  async #read(reading: number): Promise<void> {
    const mark = this.mark();
    const seen = new Set<string>();
    let partial = false;
    for (const status of ["requested", "unknown"] as const) {
      let count = 0;
      for await (const page of pages({ status, limit: PAGE })) {
        if (reading !== this.#readings) return;
        if (!page.ok) return this.#publish({ problem: page.problem, loaded: true });
        const { items } = page.value;
        const isFull = count >= MOST && items.length > 0;
        partial ||= isFull;
        if (isFull) break;
        for (const item of items) {
          seen.add(item.id);
          this.put(item, mark);
        }
        count += items.length;
      }
    }
    await this.#lookUpGone(seen, mark);
    const { problem: _solved, ...state } = this.value;
    this.set({ ...state, loaded: true, partial });
    this.#publishSoon();
  }

  /** Asks for what these filters find beyond what is kept here. */
  async readMore(filter: ListOptions): Promise<void> {
    const mark = this.mark();
    const page = await ask(client.confirmations.list({ ...filter, status: "requested", limit: PAGE }));
    if (page.ok) for (const item of page.value.items) this.put(item, mark);
  }

  /** Open rows that are no longer in the list have changed while offline. */
  async #lookUpGone(seen: ReadonlySet<string>, mark: number): Promise<void> {
    const gone = [...this.#confirmations.values()].filter(
      ({ id, status }) => UNSETTLED.has(status) && !seen.has(id) && (this.#toldAt.get(id) ?? 0) <= mark,
    );
    for (const { id } of gone.slice(LOOKED_UP)) this.#confirmations.delete(id);
    for (const { id } of gone.slice(0, LOOKED_UP)) {
      const found = await ask(client.confirmations.get(id));
      if (found.ok) this.put(found.value, mark);
      else if (found.problem.status === 404) this.#confirmations.delete(id);
    }
  }

  async #readMe(): Promise<void> {
    const me = await ask(client.me());
    if (me.ok) {
      // A card that is open already may show what somebody else typed.
      if (ownDrafts(me.value.principal.id)) window.location.reload();
      this.#publish({ me: me.value });
    } else this.#publish({ problem: me.problem });
  }

  #publish(change: Partial<BoardState>): void {
    this.set({ ...this.value, ...change, confirmations: this.#confirmations });
  }

  #publishSoon(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    window.setTimeout(() => {
      this.#isPublishing = false;
      this.#publish({});
    }, SETTLE_MS);
  }
}

const UNSETTLED: ReadonlySet<Confirmation["status"]> = new Set([
  "requested",
  "approved",
  "executing",
  "unknown",
]);

export const board: Board = new Board();
