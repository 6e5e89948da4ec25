import { CountersignError } from "../../../protocol/index.ts";
import type { ItemVersion } from "../../ledger/index.ts";
import type { Archive } from "../archive.ts";
import { entriesOfConfirmation } from "../entries.ts";
import type { Store } from "../store.ts";
import { pointersOf } from "./pointers.ts";
import { type Renaming, renamedArchive, renamedConfirmation, renamedDocument } from "./rename-people.ts";

const MOST_TRIES = 20;

/** Says on which version of an item it rests that names may be replaced; nothing if they may not. */
type Judge = () => Promise<ItemVersion | undefined>;

/**
 * Replaces names in what is left of an erased session: in its own name, in who asked and decided, and in the entries that
 * find it by them. False if there was nothing to replace, the session is not erased, or it may not be done.
 */
export async function anonymiseSession(
  store: Store,
  key: string,
  { names: renaming, judge }: { readonly names: Renaming; readonly judge: Judge },
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { document, version } = (await store.load({ key })) ?? {};
    if (document?.head.deletedAt === undefined || version === undefined) return false;
    const renamed = renamedDocument(document, renaming);
    const archives = await renamedArchives(store, key, renaming);
    if (renamed === document && archives.length === 0) return false;
    const guard = await judge();
    if (guard === undefined) return false;
    const before = [
      ...document.confirmations,
      ...archives.flatMap(({ before: { confirmations = [] } }) => confirmations),
    ];
    const { head } = renamed;
    const isDone = await store.rename({
      key,
      version,
      // A commit of another process that was judged on the names before must not bring them back.
      document: { ...renamed, head: { ...head, updatedAt: head.updatedAt + 1 } },
      guard,
      archives: archives.map(({ n, after }) => [n, after] as const),
      remove: before.flatMap(entriesOfConfirmation),
      add: before.map((one) => renamedConfirmation(one, renaming)).flatMap(entriesOfConfirmation),
    });
    if (isDone) return true;
  }
  throw new CountersignError(
    "ledger-busy",
    "Legal holds kept changing while names were replaced. Try again.",
  );
}

interface RenamedArchive {
  readonly n: number;
  readonly before: Archive;
  readonly after: Archive;
}

async function renamedArchives(
  store: Store,
  key: string,
  renaming: Renaming,
): Promise<readonly RenamedArchive[]> {
  const found: RenamedArchive[] = [];
  for (const n of new Set((await pointersOf(store, key)).map(({ sort }) => sort))) {
    const before = await store.archive(key, n);
    const after = before && renamedArchive(before, renaming);
    if (before !== undefined && after !== undefined && after !== before) found.push({ n, before, after });
  }
  return found;
}
