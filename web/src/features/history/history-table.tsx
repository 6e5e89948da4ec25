import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { changesInShort } from "../confirmation/arguments/changes.tsx";
import { questionText } from "../confirmation/card/question.ts";
import { whoMay } from "../confirmation/decide/who-may.ts";
import { WithdrawButton } from "../confirmation/decide/withdraw-button.tsx";
import { StatusBadge } from "../confirmation/status-badge.tsx";
import { settlementSentence } from "../confirmation/status-words.ts";
import type { Listing } from "./use-listing.ts";

export interface HistoryTableProps {
  readonly listing: Listing;
  readonly items: readonly Confirmation[];
  readonly empty: string;
  /** `mine` shows who can decide and lets one withdraw; `history` who decided and what came back. */
  readonly of: "mine" | "history";
}

export function HistoryTable({ listing, items, empty, of }: HistoryTableProps): ReactNode {
  if (listing.problem !== undefined)
    return <Empty title="The list cannot be loaded">{listing.problem.detail}</Empty>;
  if (items.length === 0) return listing.isLoading ? <Empty title="Loading…" /> : <Empty title={empty} />;
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{of === "mine" ? "Asked" : "Requester"}</th>
            <th scope="col">State</th>
            <th scope="col">{of === "mine" ? "Who decides" : "Decided"}</th>
            <th scope="col">{of === "mine" ? "Action" : "Result"}</th>
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

function TableRow({ item, of }: { readonly item: Confirmation; readonly of: "mine" | "history" }): ReactNode {
  const { id, tool, args, status, user, requestedAt } = item;
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
      <td>{of === "mine" ? <At at={requestedAt} /> : <Words text={user} maxLength={60} />}</td>
      <td>
        <StatusBadge status={status} settlement={item.settlement} />
      </td>
      <td>
        {of === "mine" && status === "requested" ? (
          <Words text={whoMay(item)} maxLength={200} />
        ) : (
          <Decided item={item} />
        )}
      </td>
      <td>
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

function Decided({ item: { decision, withdrawal } }: { readonly item: Confirmation }): ReactNode {
  if (decision === undefined) return <Words text={withdrawal ?? "nobody"} maxLength={120} />;
  return (
    <>
      <Words text={decision.by.id} maxLength={60} />{" "}
      <span className="muted small">
        <At at={decision.at} /> · <Words text={decision.via} maxLength={30} />
        {decision.by.authenticated ? "" : " · unauthenticated"}
      </span>
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
