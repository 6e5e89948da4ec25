import { DocumentLedger, type Ledger, type Store, systemClock } from "../../../src/engine/index.ts";
import { MemoryStore } from "../../../src/stores/memory/index.ts";

/** What was asked of a store. */
export interface Counts {
  readonly reads: number;
  readonly commits: number;
  /** Changes outside of sessions. */
  readonly changes: number;
}

type Method = keyof Store;

const READS: ReadonlySet<string> = new Set<Method>([
  "load",
  "loadAll",
  "documents",
  "log",
  "archive",
  "entries",
  "lost",
  "items",
  "itemsOf",
  "usage",
]);

/** A ledger in memory whose store counts what is asked of it, leases apart: those are renewed by the clock. */
export class CountingLedger {
  readonly ledger: Ledger;
  #asked: string[] = [];

  constructor() {
    const store = new Proxy<Store>(new MemoryStore(systemClock), {
      get: (target, name) => {
        const own: unknown = Reflect.get(target, name, target);
        if (typeof own !== "function") return own;
        return (...given: unknown[]): unknown => {
          this.#asked.push(String(name));
          return Reflect.apply(own, target, given) as unknown;
        };
      },
    });
    this.ledger = new DocumentLedger(store);
  }

  /** What this work asks of the store. */
  async during(work: () => Promise<unknown>): Promise<Counts> {
    this.#asked = [];
    await work();
    const asked = this.#asked;
    const count = (isCounted: (name: string) => boolean): number => asked.filter(isCounted).length;
    return {
      reads: count((name) => READS.has(name)),
      commits: count((name) => name === "commit"),
      changes: count((name) => name === "change"),
    };
  }
}
