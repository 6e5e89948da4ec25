import "../features/history/history.css";
import type { ListOptions } from "countersign/client";
import { type ReactNode, useDeferredValue, useState } from "react";
import { pages } from "../api/pages.ts";
import type { Confirmation, Status } from "../api/types.ts";
import { statusWord } from "../features/confirmation/status-words.ts";
import { save, toCsv } from "../features/history/export.ts";
import { HistoryTable } from "../features/history/history-table.tsx";
import { useListing } from "../features/history/use-listing.ts";
import { board } from "../features/inbox/board.ts";
import { to } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { tell } from "../ui/messages.ts";
import { useStore } from "../ui/store.ts";

const CLOSED: readonly Status[] = [
  "approved",
  "executing",
  "succeeded",
  "failed",
  "unknown",
  "denied",
  "expired",
  "cancelled",
];
const PAGE = 50;
const MOST_EXPORTED = 10_000;

interface HistoryFilters {
  readonly q: string;
  readonly status: Status | "";
  readonly tool: string;
  readonly user: string;
}

/** Who decided what, when, from where, what ran and what came back. */
export function HistoryPage(): ReactNode {
  const [filters, setFilters] = useState<HistoryFilters>({ q: "", status: "", tool: "", user: "" });
  const query = toQuery(useDeferredValue(filters));
  const listing = useListing({ ...query, limit: PAGE });
  const { confirmations } = useStore(board);
  const items = listing.items.map((item) => confirmations.get(item.id) ?? item);
  return (
    <main className="page">
      <div className="page-head">
        <h1>History</h1>
        <div className="row">
          <a className="button button-small" href={to("numbers")}>
            Numbers
          </a>
          <Button small onClick={() => exportAs("csv", query)}>
            Export CSV
          </Button>
          <Button small onClick={() => exportAs("json", query)}>
            Export JSON
          </Button>
        </div>
      </div>
      <search className="history-filters">
        <Filter label="Search" value={filters.q} onType={(q) => setFilters({ ...filters, q })} />
        <select
          className="input"
          aria-label="State"
          value={filters.status}
          onChange={(event) => setFilters({ ...filters, status: event.target.value as Status | "" })}
        >
          <option value="">Any state</option>
          {CLOSED.map((status) => (
            <option key={status} value={status}>
              {statusWord(status).word}
            </option>
          ))}
        </select>
        <Filter label="Tool" value={filters.tool} onType={(tool) => setFilters({ ...filters, tool })} />
        <Filter label="Requester" value={filters.user} onType={(user) => setFilters({ ...filters, user })} />
      </search>
      <HistoryTable listing={listing} items={items} of="history" empty="Nothing has been decided yet" />
    </main>
  );
}

function Filter(props: {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}): ReactNode {
  return (
    <input
      className="input"
      type="search"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value}
      onChange={(event) => props.onType(event.target.value)}
    />
  );
}

function toQuery({ q, status, tool, user }: HistoryFilters): ListOptions {
  return {
    status: status === "" ? CLOSED : status,
    ...(q.trim() === "" ? {} : { q: q.trim() }),
    ...(tool.trim() === "" ? {} : { tool: tool.trim() }),
    ...(user.trim() === "" ? {} : { user: user.trim() }),
  };
}

function exportAs(form: "csv" | "json", query: ListOptions): void {
  readAll(query).then(
    (items) =>
      form === "csv"
        ? save("countersign.csv", "text/csv;charset=utf-8", toCsv(items))
        : save("countersign.json", "application/json", JSON.stringify(items, undefined, 2)),
    () => tell("The export failed."),
  );
}

async function readAll(query: ListOptions): Promise<readonly Confirmation[]> {
  const items: Confirmation[] = [];
  for await (const page of pages({ ...query, limit: 200 })) {
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
