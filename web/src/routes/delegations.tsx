import "../features/history/history.css";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ask, client, type Problem } from "../api/client.ts";
import type { Delegation } from "../api/types.ts";
import { DelegationForm } from "../features/delegations/delegation-form.tsx";
import { DelegationItem } from "../features/delegations/delegation-item.tsx";
import { Empty } from "../ui/empty.tsx";

interface Found {
  readonly items: readonly Delegation[];
  readonly problem?: Problem;
}

/** Out of office: who votes for whom now, and a form to let somebody vote for oneself. */
export function DelegationsPage(): ReactNode {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const load = useCallback((): void => {
    ask(client.delegations.list()).then(
      (list) => setFound(list.ok ? list.value : { items: [], problem: list.problem }),
      () => undefined,
    );
  }, []);
  useEffect(load, [load]);
  return (
    <main className="page">
      <div className="page-head">
        <h1>Out of office</h1>
      </div>
      <p className="muted">
        Somebody else votes for you where a rule names you. Roles are not passed on, and neither is what you
        confirm for yourself.
      </p>
      <DelegationForm onMade={load} />
      {found === undefined ? null : found.problem !== undefined ? (
        <Empty title="The list cannot be loaded">{found.problem.detail}</Empty>
      ) : found.items.length === 0 ? (
        <Empty title="No delegations">Nobody votes for you, and you vote for nobody else.</Empty>
      ) : (
        <ul className="unknowns">
          {found.items.map((delegation) => (
            <DelegationItem key={delegation.id} delegation={delegation} onEnded={load} />
          ))}
        </ul>
      )}
    </main>
  );
}
