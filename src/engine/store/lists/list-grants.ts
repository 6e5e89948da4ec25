import { sessionOf } from "../../common/index.ts";
import {
  fromSharedItem,
  type GrantRecord,
  type GrantsRequest,
  type GrantWithSession,
  isShared,
  type Page,
  SHARED_GRANT,
} from "../../ledger/index.ts";
import { afterOf, limitOf, toPage } from "../pages.ts";
import { toSession } from "../snapshot.ts";
import type { Store } from "../store.ts";

/** How many are looked through at a time. */
const WINDOW = 200;

/** Those across sessions come behind those of sessions, which are sorted by their end. */
const SHARED = Number.MAX_SAFE_INTEGER;

type Place = readonly [sort: number, id: string];

/** Some grants, and where to go on. */
interface Window {
  readonly grants: readonly GrantWithSession[];
  readonly next?: Place;
}

/** Goes along the list until the page is full, so that it does not depend on what is left out. */
export async function listGrants(
  store: Store,
  { where = () => true, ...request }: GrantsRequest = {},
): Promise<Page<GrantWithSession>> {
  const limit = limitOf(request);
  const window = Math.max(WINDOW, limit + 1);
  const found: GrantWithSession[] = [];
  for (let after: Place = afterOf<[number, string]>(request, [store.now, ""]); ; ) {
    const read = after[0] === SHARED ? readShared : readOwn;
    const { grants, next } = await read(store, after, window);
    found.push(...grants.filter(({ grant }) => where(grant)));
    if (next === undefined || found.length > limit)
      return toPage(found, limit, ({ grant }) => [isShared(grant.limits) ? SHARED : grant.endsAt, grant.id]);
    after = next;
    // Others get their turn.
    await store.pause();
  }
}

/** Grants of sessions, nearest end first. */
async function readOwn(store: Store, after: Place, limit: number): Promise<Window> {
  const [entries = []] = await store.entries([{ facet: "grant", value: "", limit, after }]);
  const loaded = await store.loadAll([...new Set(entries.map(({ id }) => sessionOf(id)))]);
  const now = loaded[0]?.now ?? store.now;
  const sessions = new Map(loaded.map((one) => [one.key, toSession(one)]));
  const grants = entries.flatMap(({ id }) => {
    const session = sessions.get(sessionOf(id));
    const grant = session?.grants?.find((one) => one.id === id && one.endsAt > now);
    return session === undefined || grant === undefined ? [] : [{ grant, session }];
  });
  const last = entries.at(-1);
  return {
    grants,
    next: last === undefined || entries.length < limit ? [SHARED, ""] : [last.sort, last.id],
  };
}

/** Grants across sessions, each with the session in which it was given, by id. */
async function readShared(store: Store, [, after]: Place, limit: number): Promise<Window> {
  const items = await store.itemsOf(SHARED_GRANT, { after, limit });
  const live = items.flatMap((item) => fromSharedItem(item) ?? []).filter(isLive);
  const loaded = await store.loadAll([...new Set(live.map(({ session }) => session))]);
  const sessions = new Map(loaded.map((one) => [one.key, toSession(one)]));
  const grants = live.flatMap((grant) => {
    const session = sessions.get(grant.session);
    return session === undefined ? [] : [{ grant, session }];
  });
  const last = items.at(-1);
  return { grants, ...(last === undefined || items.length < limit ? {} : { next: [SHARED, last.id] }) };
}

function isLive({ revoked }: GrantRecord): boolean {
  return revoked === undefined;
}
