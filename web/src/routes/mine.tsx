import "../features/history/history.css";
import { type ReactNode, useMemo, useState } from "react";
import type { Confirmation } from "../api/types.ts";
import { HistoryTable } from "../features/history/history-table.tsx";
import { type Listing, useListing } from "../features/history/use-listing.ts";
import { board } from "../features/inbox/board.ts";
import { Button } from "../ui/button.tsx";
import { useStore } from "../ui/store.ts";

/** What this person has asked for: its state, who can decide, and the way to take it back. */
export function MinePage(): ReactNode {
  const state = useStore(board);
  const listing = useListing({ mine: true, status: "all", limit: 50 });
  const { items: loaded, isLoading, hasMore } = listing;
  const id = state.me?.principal.id;
  const [letIn, setLetIn] = useState<ReadonlySet<string>>(new Set());
  const { items, news } = useMemo(() => {
    const all = new Map(loaded.map((item) => [item.id, item]));
    const newest = loaded[0];
    const fresh: string[] = [];
    for (const item of inReach(state.confirmations.values(), { items: loaded, isLoading, hasMore })) {
      const isMine = all.has(item.id) || (id !== undefined && item.requesters.includes(id));
      if (!isMine) continue;
      const isNew = newest !== undefined && newest.requestedAt < item.requestedAt;
      if (isNew && !letIn.has(item.id)) fresh.push(item.id);
      else all.set(item.id, item);
    }
    return { items: [...all.values()].toSorted(newestFirst), news: fresh };
  }, [loaded, isLoading, hasMore, state, id, letIn]);
  return (
    <main className="page">
      <div className="page-head">
        <h1>My requests</h1>
        {/* At the top they would push down what somebody reads. */}
        {news.length === 0 || isLoading ? null : (
          <Button small look="ink" onClick={() => setLetIn(new Set([...letIn, ...news]))}>
            {news.length} new
          </Button>
        )}
      </div>
      <HistoryTable listing={listing} items={items} of="mine" empty={NONE} />
    </main>
  );
}

const NONE = {
  title: "You have no requests yet",
  about:
    "What an agent asks for in your name is listed here, with who may decide it. You can withdraw it here.",
};

/** What is older than the list has so far comes with it when more is shown. */
function* inReach(
  all: Iterable<Confirmation>,
  { items, isLoading, hasMore }: Pick<Listing, "items" | "isLoading" | "hasMore">,
): Iterable<Confirmation> {
  if (items.length === 0 && isLoading) return;
  const oldest = hasMore ? items.at(-1)?.requestedAt : undefined;
  const listed = new Set(items.map(({ id }) => id));
  for (const item of all)
    if (oldest === undefined || item.requestedAt > oldest || listed.has(item.id)) yield item;
}

function newestFirst(left: Confirmation, right: Confirmation): number {
  return left.requestedAt < right.requestedAt ? 1 : left.requestedAt > right.requestedAt ? -1 : 0;
}
