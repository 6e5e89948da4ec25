import type { Page, PageRequest, SessionFilter, SessionRecord } from "../../ledger/index.ts";
import { isAnswered, isFrameOver } from "../../lifecycle/index.ts";
import { afterOf, limitOf, toCursor, toPage } from "../pages.ts";
import { toSession } from "../snapshot.ts";
import type { LoadedDocument, Store } from "../store.ts";

const AT_ONCE = 200;
/** One page of idle sessions looks at no more sessions than this. */
const MOST_SEEN = 2_000;

/** A page of the sessions that the filter names. */
export function listSessions(
  store: Store,
  which: SessionFilter,
  page?: PageRequest,
): Promise<Page<SessionRecord>> {
  if (which === "all") return listAll(store, page);
  return "app" in which ? listOf(store, which, page) : listIdle(store, which, page);
}

async function listOf(
  store: Store,
  { app, user }: Extract<SessionFilter, { readonly app: string }>,
  page: PageRequest | undefined,
): Promise<Page<SessionRecord>> {
  const limit = limitOf(page);
  const after = afterOf(page, user === undefined ? ["", ""] : [""]);
  const owner = { app, ...(user === undefined ? {} : { user }) };
  const found = await store.documents({ ...owner, after, limit: limit + 1 });
  return toPage(found.map(toSession), limit, (session) =>
    user === undefined ? [session.user, session.id] : [session.id],
  );
}

async function listAll(store: Store, page: PageRequest | undefined): Promise<Page<SessionRecord>> {
  const limit = limitOf(page);
  const [afterKey] = afterOf(page, [""] as const) as readonly [string];
  const found = await store.documents({ afterKey, limit: limit + 1 });
  return toPage(found.map(toSession), limit, ({ key }) => [key]);
}

async function listIdle(
  store: Store,
  which: Extract<SessionFilter, { readonly idleSince: number }>,
  page: PageRequest | undefined,
): Promise<Page<SessionRecord>> {
  const limit = limitOf(page);
  let [place] = afterOf(page, [""] as const) as readonly [string];
  const items: SessionRecord[] = [];
  for (let seen = 0; seen < MOST_SEEN; seen += AT_ONCE) {
    const documents = await store.documents({ afterKey: place, limit: AT_ONCE });
    for (const loaded of documents) {
      if (items.length === limit) return { items, next: toCursor([place]) };
      place = loaded.key;
      if (isIdle(loaded, which)) items.push(toSession(loaded));
    }
    if (documents.length < AT_ONCE) return { items };
    await store.pause();
  }
  return { items, next: toCursor([place]) };
}

function isIdle(
  { document: { head, frames, calls } }: LoadedDocument,
  { idleSince, deleted = false }: { readonly idleSince: number; readonly deleted?: boolean },
): boolean {
  return (
    (deleted || head.deletedAt === undefined) &&
    head.updatedAt < idleSince &&
    head.open === 0 &&
    frames.every(({ status }) => isFrameOver(status) || status === "waiting") &&
    calls.every(({ status }) => isAnswered(status))
  );
}
