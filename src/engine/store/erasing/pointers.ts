import { confirmationPrefix } from "../../common/index.ts";
import type { Entry, Store } from "../store.ts";

/** More than any session has: each takes a call. */
const MOST_POINTERS = 1_000_000;

/** Entries that say in which row of the log something of the session is. */
export async function pointersOf(store: Store, key: string): Promise<readonly Entry[]> {
  const values = [`${key}.`, confirmationPrefix(key)];
  const pages = await store.entries(
    values.map((value) => ({ facet: "over", value, limit: MOST_POINTERS, prefix: true })),
  );
  return pages.flat();
}
