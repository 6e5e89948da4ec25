import "../features/history/history.css";
import { type ReactNode, useMemo } from "react";
import type { Confirmation } from "../api/types.ts";
import { HistoryTable } from "../features/history/history-table.tsx";
import { useListing } from "../features/history/use-listing.ts";
import { board } from "../features/inbox/board.ts";
import { useStore } from "../ui/store.ts";

/** What this person has asked for: its state, who can decide, and the way to take it back. */
export function MinePage(): ReactNode {
  const state = useStore(board);
  const listing = useListing({ mine: true, status: "all", limit: 50 });
  const id = state.me?.principal.id;
  const items = useMemo(() => {
    const all = new Map(listing.items.map((item) => [item.id, item]));
    for (const item of state.confirmations.values()) {
      if (all.has(item.id) || (id !== undefined && item.requesters.includes(id))) all.set(item.id, item);
    }
    return [...all.values()].toSorted(newestFirst);
  }, [listing.items, state, id]);
  return (
    <main className="page">
      <div className="page-head">
        <h1>My requests</h1>
      </div>
      <HistoryTable listing={listing} items={items} of="mine" empty="You have no requests yet" />
    </main>
  );
}

function newestFirst(left: Confirmation, right: Confirmation): number {
  return left.requestedAt < right.requestedAt ? 1 : left.requestedAt > right.requestedAt ? -1 : 0;
}
