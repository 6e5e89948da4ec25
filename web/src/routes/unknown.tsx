import "../features/history/history.css";
import "../features/confirmation/card/card.css";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ask, client } from "../api/client.ts";
import type { Call, Confirmation } from "../api/types.ts";
import { ArgumentsView } from "../features/confirmation/arguments/arguments-view.tsx";
import { questionText } from "../features/confirmation/card/question.ts";
import { SettleForm } from "../features/confirmation/forms/settle-form.tsx";
import { board } from "../features/inbox/board.ts";
import { to } from "../router.ts";
import { Empty } from "../ui/empty.tsx";
import { tell } from "../ui/messages.ts";
import { useStore } from "../ui/store.ts";
import { Ago } from "../ui/time.tsx";
import { Words } from "../ui/words.tsx";

/** Calls that were started and whose end nobody knows; a person has to say. */
export function UnknownPage(): ReactNode {
  const { confirmations, loaded } = useStore(board);
  const [calls, setCalls] = useState<readonly Call[]>([]);
  const load = useCallback((): void => {
    ask(client.calls.unknown({ limit: 200 })).then(
      (page) => (page.ok ? setCalls(page.value.items) : tell(page.problem.detail)),
      () => undefined,
    );
  }, []);
  useEffect(load, [load]);
  const asked = [...confirmations.values()].filter(({ status }) => status === "unknown");
  return (
    <main className="page">
      <div className="page-head">
        <h1>Outcome unknown</h1>
      </div>
      {asked.length + calls.length === 0 && loaded ? (
        <Empty title="No unknown outcomes">
          A call appears here when its process stopped before it reported a result: it may or may not have
          run.
        </Empty>
      ) : null}
      <ul className="unknowns">
        {asked.map((one) => (
          <AskedItem key={one.id} confirmation={one} />
        ))}
        {calls.map((call) => (
          <li className="unknown" key={call.id}>
            <h2>
              <Words text={call.tool} maxLength={120} />
            </h2>
            <ArgumentsView args={call.args} />
            {call.truncated === true ? (
              <p className="small muted">
                Long values are shortened here. <code>countersign show</code> prints them in full.
              </p>
            ) : null}
            <SettleForm
              id={call.id}
              what={`${call.tool} · ${call.user}`}
              owner={call.owner}
              startedAt={call.startedAt}
              attempt={call.attempt}
              isGranted={call.grant !== undefined}
              send={(settlement, key) =>
                ask(client.calls.settle(call.id, settlement, { idempotencyKey: key }))
              }
              onSettled={load}
            />
          </li>
        ))}
      </ul>
    </main>
  );
}

function AskedItem({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { id, tool, user, execution } = confirmation;
  return (
    <li className="unknown">
      <h2>
        <a href={to("confirmations", id)}>
          <Words text={questionText(confirmation)} />
        </a>
      </h2>
      <p className="muted">
        <code>
          <Words text={tool} maxLength={120} />
        </code>{" "}
        for <Words text={user} maxLength={60} />
        {execution === undefined ? null : (
          <>
            , started <Ago at={execution.startedAt} />
          </>
        )}
        . Open it to settle it.
      </p>
    </li>
  );
}
