import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { headline } from "../confirmation/card/headline.ts";
import { whoMay } from "../confirmation/decide/who-may.ts";
import { WithdrawButton } from "../confirmation/decide/withdraw-button.tsx";
import { StatusBadge } from "../confirmation/status-badge.tsx";
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
  const { amount, target } = headline(args);
  return (
    <tr>
      <td>
        <a className="table-what" href={to("confirmations", id)}>
          <Words text={tool} maxLength={60} />
        </a>{" "}
        <span className="muted">
          <Words text={[amount?.text, target?.text].filter(Boolean).join(" · ")} maxLength={90} />
        </span>
      </td>
      <td>{of === "mine" ? <At at={requestedAt} /> : <Words text={user} maxLength={60} />}</td>
      <td>
        <StatusBadge status={status} />
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

function CameBack({ item: { result, decision } }: { readonly item: Confirmation }): ReactNode {
  if (result === undefined) {
    return decision?.reason === undefined ? null : <Words text={`“${decision.reason}”`} maxLength={120} />;
  }
  return (
    <code>
      <Words text={typeof result === "string" ? result : JSON.stringify(result)} maxLength={120} />
    </code>
  );
}
