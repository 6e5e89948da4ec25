import "../features/history/history.css";
import "../features/deliveries/deliveries.css";
import type { ReactNode } from "react";
import type { Me } from "../api/types.ts";
import { useGivenUp } from "../features/deliveries/given-up.ts";
import { GivenUpItem } from "../features/deliveries/given-up-item.tsx";
import { board } from "../features/inbox/board.ts";
import { Empty } from "../ui/empty.tsx";
import { useStore } from "../ui/store.ts";

/** Messages to channels that were given up. */
export function DeliveriesPage(): ReactNode {
  const { me } = useStore(board);
  const found = useGivenUp();
  return (
    <main className="page">
      <div className="page-head">
        <h1>Notifications given up</h1>
      </div>
      {found === undefined ? (
        <Unseen me={me} />
      ) : found.items.length > 0 ? (
        <>
          <p className="muted given-up-about">
            No decision depends on them: what waits is in the inbox, told or not.
          </p>
          <ul className="unknowns">
            {found.items.map((delivery) => (
              <GivenUpItem key={`${delivery.channel} ${delivery.sequence}`} delivery={delivery} />
            ))}
          </ul>
          {found.hasMore ? <p className="muted">There are more; send these first.</p> : null}
        </>
      ) : found.problem !== undefined ? (
        <Empty title="The list cannot be read">{found.problem.detail}</Empty>
      ) : (
        <Empty title="No notification was given up">What cannot be sent for days appears here.</Empty>
      )}
    </main>
  );
}

function Unseen({ me }: { readonly me: Me | undefined }): ReactNode {
  if (me === undefined || me.principal.scopes.includes("admin")) return null;
  return <Empty title="Only administrators see these">It takes a login with the scope admin.</Empty>;
}
