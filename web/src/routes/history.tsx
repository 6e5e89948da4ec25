import "../features/history/history.css";
import type { ListOptions } from "countersign/client";
import { type ReactNode, useDeferredValue, useState } from "react";
import { pages } from "../api/pages.ts";
import type { Confirmation, Status } from "../api/types.ts";
import { statusWord } from "../features/confirmation/status-words.ts";
import { toCsv, toJsonLines } from "../features/history/export.ts";
import {
  CLOSED,
  type HistoryFilters,
  isFiltered,
  toQuery,
  useHistoryFilters,
} from "../features/history/history-filters.ts";
import { HistoryTable } from "../features/history/history-table.tsx";
import { nextSorting, type SortColumn, type Sorting, sortRows } from "../features/history/sort-rows.ts";
import { type Listing, useListing } from "../features/history/use-listing.ts";
import { board } from "../features/inbox/board.ts";
import { Button } from "../ui/button.tsx";
import { tell } from "../ui/messages.ts";
import { saveFile } from "../ui/save-file.ts";
import { useStore } from "../ui/store.ts";
import { AsOf } from "../ui/time.tsx";

const PAGE = 50;
/** In seconds. Nobody decides by what was decided before. */
const MAX_AGE = 30;
const MOST_EXPORTED = 10_000;

const NO_MATCH = { title: "Nothing matches these filters" };
const NOTHING_YET = {
  title: "Nothing has been decided yet",
  about: "Every decision is listed here: who decided what and when, what ran, and what came back.",
};

/** Who decided what, when, from where, what ran and what came back. */
export function HistoryPage(): ReactNode {
  const [filters, setFilters] = useHistoryFilters();
  const [sorting, setSorting] = useState<Sorting>();
  const query = toQuery(useDeferredValue(filters));
  const listing = useListing({ ...query, limit: PAGE, maxAge: MAX_AGE });
  const { confirmations } = useStore(board);
  const items = sortRows(
    listing.items.map((item) => confirmations.get(item.id) ?? item),
    sorting,
  );
  return (
    <main className="page">
      <div className="page-head">
        <h1>History</h1>
        <div className="row">
          <Button small onClick={() => exportAs("csv", query, sorting)}>
            Export CSV
          </Button>
          <Button small onClick={() => exportAs("jsonl", query, sorting)}>
            Export JSON lines
          </Button>
        </div>
      </div>
      <Filters filters={filters} onChange={setFilters} />
      {items.length === 0 ? null : (
        <p className="small muted table-note">{orderSentence(sorting, listing)}</p>
      )}
      {listing.asOf === undefined ? null : (
        <p className="small muted table-note">
          <AsOf at={listing.asOf} />
        </p>
      )}
      <HistoryTable
        listing={listing}
        items={items}
        of="history"
        empty={isFiltered(filters) ? NO_MATCH : NOTHING_YET}
        sorting={sorting}
        onSort={(by) => setSorting((before) => nextSorting(before, by))}
      />
    </main>
  );
}

/** In which order the rows are. One line, which is always there: the table stays in its place when it is sorted. */
function orderSentence(sorting: Sorting | undefined, { items, hasMore }: Listing): string {
  if (sorting === undefined) return "Latest request first.";
  if (hasMore)
    return `Only the ${items.length} loaded rows are sorted. Show more, or filter, to sort the rest.`;
  return `Sorted by ${SORTED_BY[sorting.by]}.`;
}

const SORTED_BY: Readonly<Record<SortColumn, string>> = {
  what: "what was asked for",
  requester: "requester",
  state: "status",
  decided: "time of decision",
};

function Filters({
  filters,
  onChange,
}: {
  readonly filters: HistoryFilters;
  readonly onChange: (filters: HistoryFilters) => void;
}): ReactNode {
  // On a phone, where they would take half of the screen.
  const [isFolded, setFolded] = useState(true);
  return (
    <search className={isFolded ? "history-filters history-filters-few" : "history-filters"}>
      <Filter label="Search" value={filters.q} onType={(q) => onChange({ ...filters, q })} />
      <select
        className="input"
        aria-label="Status"
        value={filters.status}
        onChange={(event) => onChange({ ...filters, status: event.target.value as Status | "" })}
      >
        <option value="">Any status</option>
        {CLOSED.map((status) => (
          <option key={status} value={status}>
            {statusWord(status).word}
          </option>
        ))}
      </select>
      <Filter rare label="Tool" value={filters.tool} onType={(tool) => onChange({ ...filters, tool })} />
      <Filter rare label="Requester" value={filters.user} onType={(user) => onChange({ ...filters, user })} />
      <Filter
        rare
        label="Decided by"
        value={filters.decidedBy}
        onType={(decidedBy) => onChange({ ...filters, decidedBy })}
      />
      <div className="history-days history-rare">
        <Day label="Asked from" value={filters.since} onPick={(since) => onChange({ ...filters, since })} />
        <Day label="Asked until" value={filters.until} onPick={(until) => onChange({ ...filters, until })} />
      </div>
      <Button expanded={!isFolded} onClick={() => setFolded(!isFolded)}>
        {isFolded ? "More filters" : "Fewer filters"}
      </Button>
    </search>
  );
}

function Filter(props: {
  readonly rare?: boolean;
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}): ReactNode {
  return (
    <input
      className={props.rare === true ? "input history-rare" : "input"}
      type="search"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value}
      onChange={(event) => props.onType(event.target.value)}
    />
  );
}

function Day(props: {
  readonly label: string;
  readonly value: string;
  readonly onPick: (day: string) => void;
}): ReactNode {
  return (
    <label className="history-day small muted">
      {props.label}
      <input
        className="input"
        type="date"
        value={props.value}
        onChange={(event) => props.onPick(event.target.value)}
      />
    </label>
  );
}

/** What is shown: the same rows in the same order, and those that are not loaded yet. */
function exportAs(form: "csv" | "jsonl", query: ListOptions, sorting: Sorting | undefined): void {
  readAll(query).then(
    (all) => {
      const items = sortRows(all, sorting);
      if (form === "csv") saveFile("countersign.csv", "text/csv;charset=utf-8", toCsv(items));
      else saveFile("countersign.jsonl", "application/jsonl", toJsonLines(items));
    },
    () => tell("The export failed."),
  );
}

async function readAll(query: ListOptions): Promise<readonly Confirmation[]> {
  const items: Confirmation[] = [];
  for await (const page of pages({ ...query, limit: 200, maxAge: MAX_AGE })) {
    if (!page.ok) {
      tell(`The export is not complete. ${page.problem.detail}`);
      break;
    }
    items.push(...page.value.items);
    if (items.length < MOST_EXPORTED) continue;
    tell(`The export stops at ${MOST_EXPORTED.toLocaleString()} rows. Use narrower filters for the rest.`);
    break;
  }
  const cut = items.filter(({ truncated }) => truncated === true).length;
  if (cut > 0) tell(`${cut.toLocaleString()} rows have long values that are cut. These rows are marked.`);
  return items;
}
