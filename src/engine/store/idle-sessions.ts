import type { Page, PageRequest, SessionRecord } from "../ledger/index.ts";
import { isAnswered, isFrameOver } from "../lifecycle/index.ts";
import type { SessionDocument } from "./document.ts";
import { afterOf, limitOf, toCursor } from "./pages.ts";
import { toSession } from "./snapshot.ts";
import type { LoadedDocument, Store } from "./store.ts";

const AT_ONCE = 200;
/** One page looks at no more sessions than this. */
const MOST_SEEN = 2_000;

/** Sessions untouched since `before` in which nothing is open, and which are not deleted, by key. */
export async function listIdleSessions(
  store: Store,
  before: number,
  page?: PageRequest,
): Promise<Page<string>> {
  const isIdle = (loaded: LoadedDocument): boolean =>
    loaded.document.head.deletedAt === undefined && isFinished(loaded, before);
  const { items, ...rest } = await walk(store, isIdle, page);
  return { ...rest, items: items.map(({ key }) => key) };
}

/** The same with those that are deleted. */
export async function listFinishedSessions(
  store: Store,
  before: number,
  page?: PageRequest,
): Promise<Page<SessionRecord>> {
  const { items, ...rest } = await walk(store, (loaded) => isFinished(loaded, before), page);
  return { ...rest, items: items.map(toSession) };
}

async function walk(
  store: Store,
  isIncluded: (loaded: LoadedDocument) => boolean,
  page: PageRequest | undefined,
): Promise<Page<LoadedDocument>> {
  const limit = limitOf(page);
  let [place] = afterOf(page, [""] as const) as readonly [string];
  const items: LoadedDocument[] = [];
  for (let seen = 0; seen < MOST_SEEN; seen += AT_ONCE) {
    const documents = await store.documents({ afterKey: place, limit: AT_ONCE });
    for (const document of documents) {
      if (items.length === limit) return { items, next: toCursor([place]) };
      place = document.key;
      if (isIncluded(document)) items.push(document);
    }
    if (documents.length < AT_ONCE) return { items };
    await store.pause();
  }
  return { items, next: toCursor([place]) };
}

function isFinished({ document }: LoadedDocument, before: number): boolean {
  const { head, frames, calls }: SessionDocument = document;
  return (
    head.updatedAt < before &&
    head.open === 0 &&
    frames.every(({ status }) => isFrameOver(status) || status === "waiting") &&
    calls.every(({ status }) => isAnswered(status))
  );
}
