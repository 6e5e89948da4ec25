import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Face } from "../../ui/face.tsx";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { changesInShort } from "../confirmation/arguments/changes.tsx";
import { questionText } from "../confirmation/card/question.ts";
import { whoMay } from "../confirmation/decide/who-may.ts";
import { WithdrawButton } from "../confirmation/decide/withdraw-button.tsx";
import { StatusBadge } from "../confirmation/status-badge.tsx";
import { settlementSentence } from "../confirmation/status-words.ts";
import { endOf, type SortColumn, type Sorting } from "./sort-rows.ts";
import type { Listing } from "./use-listing.ts";

export interface HistoryTableProps {
  readonly listing: Listing;
  readonly items: readonly Confirmation[];
  readonly empty: { readonly title: string; readonly about?: string };
  /** `mine` shows who can decide and lets one withdraw; `history` who decided and what came back. */
  readonly of: "mine" | "history";
  readonly sorting?: Sorting | undefined;
  /** A column's head was pressed; without it the columns cannot be sorted. */
  readonly onSort?: (by: SortColumn) => void;
}

/** How columns are called; on a phone, each value has the name beside it. A button needs none there. */
const NAMES = {
  mine: { second: "Asked", decided: "Who decides", last: undefined },
  history: { second: "Requester", decided: "Decided", last: "Result" },
} as const;

export function HistoryTable(props: HistoryTableProps): ReactNode {
  const { listing, items, empty, of, sorting, onSort } = props;
  const head = (by: SortColumn, name: string): ReactNode => (
    <Head by={by} name={name} sorting={sorting} onSort={onSort} />
  );
  if (listing.problem !== undefined)
    return <Empty title="The list cannot be loaded">{listing.problem.detail}</Empty>;
  if (items.length === 0)
    return listing.isLoading ? <Empty title="Loading…" /> : <Empty title={empty.title}>{empty.about}</Empty>;
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            {head("what", "What")}
            {head("requester", NAMES[of].second)}
            {head("state", "Status")}
            {head("decided", NAMES[of].decided)}
            <th scope="col">{NAMES[of].last ?? "Action"}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <TableRow key={item.id} item={item} of={of} />
          ))}
        </tbody>
      </table>
      {listing.hasMore ? (
        <div className="table-more">
          <Button off={listing.isLoading ? "Loading…" : undefined} onClick={listing.more}>
            Show more
          </Button>
        </div>
      ) : null}
    </>
  );
}

function Head(props: {
  readonly by: SortColumn;
  readonly name: string;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((by: SortColumn) => void) | undefined;
}): ReactNode {
  const { by, name, sorting, onSort } = props;
  if (onSort === undefined) return <th scope="col">{name}</th>;
  const isSorted = sorting?.by === by;
  const direction = sorting?.descending === true ? "descending" : "ascending";
  return (
    <th scope="col" aria-sort={isSorted ? direction : "none"}>
      <button type="button" className="table-sort" onClick={() => onSort(by)}>
        {name}
        <span aria-hidden="true">{isSorted ? (direction === "ascending" ? " ↑" : " ↓") : ""}</span>
      </button>
    </th>
  );
}

function TableRow({ item, of }: { readonly item: Confirmation; readonly of: "mine" | "history" }): ReactNode {
  const { id, tool, args, status, user, requestedAt } = item;
  const names = NAMES[of];
  return (
    <tr>
      <td>
        <a className="table-what" href={to("confirmations", id)}>
          <Words text={questionText({ ...item, args: item.originalArgs ?? args })} />
        </a>
        <p className="small muted">
          <code>
            <Words text={tool} maxLength={60} />
          </code>
        </p>
        {item.originalArgs === undefined ? null : (
          <p className="small">
            Changed by <Words text={item.decision?.by.id ?? "an approver"} maxLength={60} />:{" "}
            <Words text={changesInShort({ before: item.originalArgs, after: args })} maxLength={200} />
          </p>
        )}
      </td>
      <td data-name={names.second}>
        {of === "mine" ? (
          <At at={requestedAt} />
        ) : (
          <>
            <Person name={user} />
            <p className="muted small">
              <At at={requestedAt} />
            </p>
          </>
        )}
      </td>
      <td data-name="Status">
        <StatusBadge status={status} settlement={item.settlement} />
      </td>
      <td data-name={names.decided}>
        {of === "mine" && status === "requested" ? (
          <Words text={whoMay(item)} maxLength={200} />
        ) : (
          <Decided item={item} />
        )}
      </td>
      <td data-name={names.last}>
        {of === "mine" ? (
          item.can.cancel ? (
            <WithdrawButton confirmation={item} />
          ) : null
        ) : (
          <CameBack item={item} />
        )}
      </td>
    </tr>
  );
}

function Person({ name }: { readonly name: string }): ReactNode {
  return (
    <span className="table-person">
      <Face name={name} />
      <Words text={name} maxLength={60} />
    </span>
  );
}

function Decided({ item }: { readonly item: Confirmation }): ReactNode {
  const { decision, withdrawal } = item;
  const endedAt = endOf(item);
  if (decision === undefined) {
    return (
      <>
        <Words text={withdrawal ?? "nobody"} maxLength={120} />
        {endedAt === undefined ? null : (
          <p className="muted small">
            <At at={endedAt} />
          </p>
        )}
      </>
    );
  }
  return (
    <>
      <Person name={decision.by.id} />
      <p className="muted small">
        <At at={decision.at} />
        <br />
        <Words text={decision.via} maxLength={30} />
        {decision.by.authenticated ? "" : ", unauthenticated"}
      </p>
    </>
  );
}

function CameBack({ item: { result, decision, settlement } }: { readonly item: Confirmation }): ReactNode {
  if (result === undefined) {
    return decision?.reason === undefined ? null : (
      <Words text={`“${decision.reason}”`} block maxLength={300} />
    );
  }
  return (
    <>
      <code>
        <Words text={typeof result === "string" ? result : JSON.stringify(result)} maxLength={120} />
      </code>
      {settlement === undefined ? null : (
        <p className="small muted">
          <Words text={settlementSentence(settlement)} maxLength={200} /> <At at={settlement.at} />
        </p>
      )}
    </>
  );
}
