import type { KeyValueStore, Ledger } from "../../../src/engine/index.ts";
import { wrapLedger } from "./ledger-proxy.ts";

/** At which write a process dies, counted from 0, and whether that write is still committed. */
export interface Crash {
  readonly writes: number;
  readonly committed: boolean;
}

/** The ledger as a process sees it that dies at one of the writes to its store. */
export function dyingStore(ledger: Ledger, { writes, committed }: Crash): Ledger {
  const { items: store } = ledger;
  let left = writes;
  const items: KeyValueStore = {
    get: (kind, id) => (left < 0 ? dead() : store.get(kind, id)),
    list: (kind, page) => store.list(kind, page),
    remove: (item) => store.remove(item),
    pin: (name, value) => store.pin(name, value),
    async put(item, read) {
      left -= 1;
      if (left >= 0) return store.put(item, read);
      if (left === -1 && committed) await store.put(item, read);
      return dead();
    },
  };
  return wrapLedger(ledger, { items });
}

async function dead(): Promise<never> {
  throw new Error("The process died.");
}
