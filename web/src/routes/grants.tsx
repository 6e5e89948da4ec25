import "../features/history/history.css";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ask, client, type Problem } from "../api/client.ts";
import type { Grant } from "../api/types.ts";
import { GrantItem } from "../features/grants/grant-item.tsx";
import { Empty } from "../ui/empty.tsx";

const LIMIT = 200;

interface Found {
  readonly items: readonly Grant[];
  readonly hasMore: boolean;
  readonly problem?: Problem;
}

/** Grants that are not over: approvals that let further calls run without asking. */
export function GrantsPage(): ReactNode {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const load = useCallback((): void => {
    ask(client.grants.list({ limit: LIMIT })).then(
      (page) =>
        setFound(
          page.ok
            ? { items: page.value.items, hasMore: page.value.next !== undefined }
            : { items: [], hasMore: false, problem: page.problem },
        ),
      () => undefined,
    );
  }, []);
  useEffect(load, [load]);
  return (
    <main className="page">
      <div className="page-head">
        <h1>Grants</h1>
      </div>
      {found === undefined ? null : found.problem !== undefined ? (
        <Empty title="The list cannot be loaded">{found.problem.detail}</Empty>
      ) : found.items.length === 0 ? (
        <Empty title="No grants">
          A grant lets further calls run without asking. Approvers can give one where a policy allows it.
        </Empty>
      ) : (
        <ul className="unknowns">
          {found.items.map((grant) => (
            <GrantItem key={grant.id} grant={grant} onRevoked={load} />
          ))}
        </ul>
      )}
      {found?.hasMore === true ? <p className="muted">There are more.</p> : null}
    </main>
  );
}
