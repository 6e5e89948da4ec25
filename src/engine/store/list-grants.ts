import { sessionOf } from "../common/index.ts";
import type { GrantWithSession, Page, PageRequest } from "../ledger/index.ts";
import { afterOf, limitOf, toPage } from "./pages.ts";
import { toSession } from "./snapshot.ts";
import type { Store } from "./store.ts";

/** Grants that are neither over nor revoked, nearest end first. A page may be short. */
export async function listGrants(store: Store, request?: PageRequest): Promise<Page<GrantWithSession>> {
  const limit = limitOf(request);
  const after = afterOf<[number, string]>(request, [store.now, ""]);
  const [entries = []] = await store.entries([{ facet: "grant", value: "", limit: limit + 1, after }]);
  const page = toPage(entries, limit, ({ sort, id }) => [sort, id]);
  const loaded = await store.loadAll([...new Set(page.items.map(({ id }) => sessionOf(id)))]);
  const now = loaded[0]?.now ?? store.now;
  const sessions = new Map(loaded.map((one) => [one.key, toSession(one)]));
  const items = page.items.flatMap(({ id }) => {
    const session = sessions.get(sessionOf(id));
    const grant = session?.grants?.find((one) => one.id === id && one.endsAt > now);
    return session === undefined || grant === undefined ? [] : [{ grant, session }];
  });
  return { ...page, items };
}
