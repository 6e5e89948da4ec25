import "../features/history/history.css";
import "../features/deliveries/deliveries.css";
import type { ReactNode } from "react";
import type { Me } from "../api/types.ts";
import { useFailedDeliveries } from "../features/deliveries/failed-delivery.ts";
import { FailedDeliveryItem } from "../features/deliveries/failed-delivery-item.tsx";
import { board } from "../features/inbox/board.ts";
import { Empty } from "../ui/empty.tsx";
import { useStore } from "../ui/store.ts";

/** Messages to channels that could not be delivered. */
export function DeliveriesPage(): ReactNode {
  const { me } = useStore(board);
  const found = useFailedDeliveries();
  return (
    <main className="page">
      <div className="page-head">
        <h1>Undelivered notifications</h1>
      </div>
      {found === undefined ? (
        <Unseen me={me} />
      ) : found.items.length > 0 ? (
        <>
          <p className="muted failed-delivery-about">
            No decision depends on them: everything that waits is also in the inbox.
          </p>
          <ul className="unknowns">
            {found.items.map((delivery) => (
              <FailedDeliveryItem key={`${delivery.channel} ${delivery.sequence}`} delivery={delivery} />
            ))}
          </ul>
          {found.hasMore ? <p className="muted">There are more. Send these first.</p> : null}
        </>
      ) : found.problem !== undefined ? (
        <Empty title="The list cannot be loaded">{found.problem.detail}</Empty>
      ) : (
        <Empty title="No undelivered notifications">
          Messages that could not be sent appear here, after three days of retries.
        </Empty>
      )}
    </main>
  );
}

function Unseen({ me }: { readonly me: Me | undefined }): ReactNode {
  if (me === undefined || me.principal.scopes.includes("admin")) return null;
  return <Empty title="Only administrators see these">You need a login with the scope admin.</Empty>;
}
