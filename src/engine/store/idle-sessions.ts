import type { Page, PageRequest } from "../ledger/index.ts";
import { isAnswered, isFrameOver } from "../lifecycle/index.ts";
import type { SessionDocument } from "./document.ts";
import { afterOf, limitOf, toCursor } from "./pages.ts";
import type { LoadedDocument, Store } from "./store.ts";

const AT_ONCE = 200;
/** One page looks at no more sessions than this. */
const MOST_SEEN = 2_000;

/** Sessions untouched since `before` in which nothing is open, by key. */
export async function listIdleSessions(
  store: Store,
  before: number,
  page?: PageRequest,
): Promise<Page<string>> {
  const limit = limitOf(page);
  let [place] = afterOf(page, [""] as const) as readonly [string];
  const items: string[] = [];
  for (let seen = 0; seen < MOST_SEEN; seen += AT_ONCE) {
    const documents = await store.documents({ afterKey: place, limit: AT_ONCE });
    for (const document of documents) {
      if (items.length === limit) return { items, next: toCursor([place]) };
      place = document.key;
      if (isIdle(document, before)) items.push(place);
    }
    if (documents.length < AT_ONCE) return { items };
    await store.pause();
  }
  return { items, next: toCursor([place]) };
}

function isIdle({ document }: LoadedDocument, before: number): boolean {
  const { head, frames, calls }: SessionDocument = document;
  return (
    head.deletedAt === undefined &&
    head.updatedAt < before &&
    head.open === 0 &&
    frames.every(({ status }) => isFrameOver(status) || status === "waiting") &&
    calls.every(({ status }) => isAnswered(status))
  );
}
