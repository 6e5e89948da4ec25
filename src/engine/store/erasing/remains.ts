import type { Remains } from "../../ledger/index.ts";
import { eraseArchive, eraseCall, eraseConfirmation } from "../archive.ts";
import type { Store } from "../store.ts";
import { pointersOf } from "./pointers.ts";

/** What an erasure leaves, or would leave, of a session's calls and confirmations, in the order in which they left the document. */
export async function remainsOf(store: Store, key: string): Promise<Remains> {
  const loaded = await store.load({ key });
  if (loaded === undefined) return { calls: [], confirmations: [] };
  const left: Remains[] = [];
  const places = new Set((await pointersOf(store, key)).map(({ sort }) => sort));
  for (const n of [...places].sort((one, other) => one - other)) {
    const { calls = [], confirmations = [] } = eraseArchive((await store.archive(key, n)) ?? {});
    left.push({ calls, confirmations });
  }
  const { calls, confirmations } = loaded.document;
  left.push({ calls: calls.map(eraseCall), confirmations: confirmations.map(eraseConfirmation) });
  return {
    calls: left.flatMap((each) => each.calls),
    confirmations: left.flatMap((each) => each.confirmations),
  };
}
