import "../features/inbox/inbox.css";
import { type ReactNode, useEffect, useRef } from "react";
import type { Confirmation } from "../api/types.ts";
import { Card } from "../features/confirmation/card/card.tsx";
import { type BoardState, board } from "../features/inbox/board.ts";
import { FilterBar } from "../features/inbox/filter-bar.tsx";
import { useFilters } from "../features/inbox/filters-in-address.ts";
import { InboxList } from "../features/inbox/inbox-list.tsx";
import { ListHead } from "../features/inbox/list-head.tsx";
import { type Filters, NO_FILTERS } from "../features/inbox/select-rows.ts";
import { shownIds, step } from "../features/inbox/triage.ts";
import { useConfirmation } from "../features/inbox/use-confirmation.ts";
import { useMore } from "../features/inbox/use-more.ts";
import { usePicked } from "../features/inbox/use-picked.ts";
import { useRows } from "../features/inbox/use-rows.ts";
import { go, to } from "../router.ts";
import { Empty } from "../ui/empty.tsx";
import { useKeys } from "../ui/keys.ts";
import { useStore } from "../ui/store.ts";

/** What waits on the left, the opened one on the right; on a phone one or the other. */
export function InboxPage({ id }: { readonly id: string | undefined }): ReactNode {
  const state = useStore(board);
  const [filters, setFilters] = useFilters();
  const { picked, pick, pickAll, clear } = usePicked();
  const view = useRows(filters);
  useMore(filters, state.partial);
  useShown(view.rows);
  useFirstOpen(id, view.rows);
  useKeys({
    j: () => step(id, 1),
    k: () => step(id, -1),
    x: () => id !== undefined && pick(id, false),
    "/": () => document.getElementById("search")?.focus(),
    Escape: () => id !== undefined && go(),
  });
  return (
    <main className={id === undefined ? "inbox" : "inbox inbox-opened"}>
      {id === undefined ? <h1 className="sr-only">Inbox</h1> : null}
      <section className="inbox-side" aria-label="Inbox">
        <FilterBar filters={filters} onFilter={setFilters} />
        <ListHead
          view={view}
          isLoaded={state.loaded}
          isPartial={state.partial}
          isFiltered={narrows(filters)}
          picked={picked}
          onPickAll={pickAll}
          onClear={clear}
        />
        {view.rows.length === 0 ? (
          <NoRows state={state} filters={filters} />
        ) : (
          <InboxList rows={view.rows} openId={id} picked={picked} onPick={pick} onBusy={view.setBusy} />
        )}
      </section>
      <section className="inbox-main" aria-label="Confirmation">
        {id === undefined ? <NothingOpen count={view.rows.length} /> : <OpenCard id={id} />}
      </section>
    </main>
  );
}

/** Tells whoever steps through the list what is in it. */
function useShown(rows: readonly Confirmation[]): void {
  useEffect(() => shownIds.set(rows.map(({ id }) => id)), [rows]);
}

const WIDE = "(min-width: 761px)";

/** Where there is room for both, the first request is open from the start; whoever closes it has it closed. */
function useFirstOpen(id: string | undefined, rows: readonly Confirmation[]): void {
  const wasOpen = useRef(id !== undefined);
  const first = rows[0]?.id;
  useEffect(() => {
    if (id !== undefined) wasOpen.current = true;
    if (wasOpen.current || first === undefined || !window.matchMedia(WIDE).matches) return;
    wasOpen.current = true;
    window.location.replace(to("confirmations", first));
  }, [id, first]);
}

function NoRows({ state, filters }: { readonly state: BoardState; readonly filters: Filters }): ReactNode {
  const { loaded, problem } = state;
  if (problem !== undefined && !loaded)
    return <Empty title="The list cannot be loaded">{problem.detail}</Empty>;
  if (!loaded) return <Loading />;
  if (problem !== undefined) return <Empty title="The list cannot be loaded">{problem.detail}</Empty>;
  if (narrows(filters)) return <Empty title="Nothing matches">Loosen the filters to see more.</Empty>;
  if (filters.show === "snoozed")
    return (
      <Empty title="No hidden requests">“Not now” on a request hides it here until a time you choose.</Empty>
    );
  if (filters.show === "unknown")
    return (
      <Empty title="Every outcome is known">
        A call that was started, but whose end nobody saw, appears here. A person has to find out what
        happened.
      </Empty>
    );
  if (filters.show === "decided")
    return (
      <Empty title="Nothing decided since this page was opened">
        What was decided before is in the <a href={to("history")}>history</a>.
      </Empty>
    );
  return (
    <Empty title="Nothing waits for you">
      When an agent wants to do something that needs a person, it appears here by itself.{" "}
      {state.me === undefined || state.me.apps.length === 0 ? null : (
        <>
          Try it: <a href={to("chat")}>talk to an agent</a> and ask it to do something.
        </>
      )}
    </Empty>
  );
}

/** Does more than choose the list? */
function narrows(filters: Filters): boolean {
  return JSON.stringify({ ...filters, show: "" }) !== JSON.stringify({ ...NO_FILTERS, show: "" });
}

function Loading(): ReactNode {
  return (
    <div className="skeletons" role="status" aria-label="Loading">
      {[0, 1, 2, 3, 4].map((index) => (
        <div className="skeleton" key={index} />
      ))}
    </div>
  );
}

function NothingOpen({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null;
  return (
    <Empty title="Open a request to decide it">
      <span className="muted">
        <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>a</kbd> approves, <kbd>r</kbd> rejects, <kbd>?</kbd> shows
        all keys.
      </span>
    </Empty>
  );
}

function OpenCard({ id }: { readonly id: string }): ReactNode {
  const confirmation = useConfirmation(id);
  const isShown = confirmation !== undefined;
  useEffect(() => {
    // Reading goes on at the head of what was opened, and the keys that scroll do so there.
    if (isShown) document.querySelector<HTMLElement>(".card-title")?.focus({ preventScroll: true });
  }, [id, isShown]);
  return (
    <>
      <a className="back" href={to()}>
        ‹ Inbox
      </a>
      {confirmation === undefined ? (
        <Loading />
      ) : "detail" in confirmation ? (
        <Empty title="This request cannot be shown">{confirmation.detail}</Empty>
      ) : (
        <Card key={`${id} ${confirmation.digest}`} confirmation={confirmation} />
      )}
    </>
  );
}
