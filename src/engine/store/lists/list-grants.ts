import { sessionOf } from "../../common/index.ts";
import type { GrantsRequest, GrantWithSession, Page } from "../../ledger/index.ts";
import { afterOf, limitOf, toPage } from "../pages.ts";
import { toSession } from "../snapshot.ts";
import type { Entry, Store } from "../store.ts";

/** How many are looked through at a time. */
const WINDOW = 200;

/** Goes along the list until the page is full, so that it does not depend on what is left out. */
export async function listGrants(
  store: Store,
  { where = () => true, ...request }: GrantsRequest = {},
): Promise<Page<GrantWithSession>> {
  const limit = limitOf(request);
  const window = Math.max(WINDOW, limit + 1);
  const found: GrantWithSession[] = [];
  for (let after = afterOf<[number, string]>(request, [store.now, ""]); ; ) {
    const [entries = []] = await store.entries([{ facet: "grant", value: "", limit: window, after }]);
    found.push(...(await readGrants(store, entries)).filter(({ grant }) => where(grant)));
    const last = entries.at(-1);
    if (last === undefined || entries.length < window || found.length > limit)
      return toPage(found, limit, ({ grant }) => [grant.endsAt, grant.id]);
    after = [last.sort, last.id];
    // Others get their turn.
    await store.pause();
  }
}

async function readGrants(store: Store, entries: readonly Entry[]): Promise<readonly GrantWithSession[]> {
  const loaded = await store.loadAll([...new Set(entries.map(({ id }) => sessionOf(id)))]);
  const now = loaded[0]?.now ?? store.now;
  const sessions = new Map(loaded.map((one) => [one.key, toSession(one)]));
  return entries.flatMap(({ id }) => {
    const session = sessions.get(sessionOf(id));
    const grant = session?.grants?.find((one) => one.id === id && one.endsAt > now);
    return session === undefined || grant === undefined ? [] : [{ grant, session }];
  });
}
