import { CountersignError } from "../../../protocol/index.ts";
import type { ItemVersion, Pruned } from "../../ledger/index.ts";
import { entriesOfConfirmation, entryOfGrant } from "../entries.ts";
import type { Entry, Store } from "../store.ts";
import { pointersOf } from "./pointers.ts";

const MOST_TRIES = 20;
/** More than any session has. */
const MOST_STEPS = 1_000_000;

/**
 * Leaves of an erased session its name and the end of its chain, so that nothing runs again under its name, and has it
 * refuse every later commit. False if it is not erased, is buried already or has changed since it was judged, or if `judge`
 * names no item.
 */
export async function burySession(
  store: Store,
  { key, version }: { readonly key: string; readonly version: number },
  { pruned, judge }: { readonly pruned: Pruned; readonly judge: () => Promise<ItemVersion | undefined> },
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const guard = await judge();
    const loaded = await store.load({ key });
    const head = loaded?.document.head;
    if (guard === undefined || loaded?.version !== version) return false;
    if (head?.deletedAt === undefined || head.pruned !== undefined) return false;
    const { confirmations, grants = [] } = loaded.document;
    const isDone = await store.rename({
      key,
      version,
      // Later than before: what another process judged on the session as it was is refused.
      document: {
        head: { ...head, open: 0, ready: 0, pruned, updatedAt: head.updatedAt + 1 },
        frames: [],
        calls: [],
        confirmations: [],
        steps: [],
      },
      guard,
      archives: [],
      add: [],
      remove: [
        ...confirmations.flatMap(entriesOfConfirmation),
        ...grants.flatMap(entryOfGrant),
        ...(await entriesOfArchives(store, key)),
      ],
    });
    if (isDone) return true;
  }
  throw new CountersignError(
    "ledger-busy",
    "Legal holds kept changing while the journal was pruned. Try again.",
  );
}

/** What finds the rows that left the document. */
async function entriesOfArchives(store: Store, key: string): Promise<readonly Entry[]> {
  const pointers = await pointersOf(store, key);
  const found: Entry[] = [...pointers];
  for (const n of new Set(pointers.map(({ sort }) => sort))) {
    const { confirmations = [] } = (await store.archive(key, n)) ?? {};
    found.push(...confirmations.flatMap(entriesOfConfirmation));
  }
  const [steps = []] = await store.entries([
    { facet: "steps", value: `${key}.`, limit: MOST_STEPS, prefix: true },
  ]);
  return [...found, ...steps];
}
