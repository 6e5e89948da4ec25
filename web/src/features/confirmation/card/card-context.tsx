import { type ReactNode, useEffect, useState } from "react";
import { ask, client, type Problem } from "../../../api/client.ts";
import type { Confirmation, ConfirmationContext } from "../../../api/types.ts";
import { to } from "../../../router.ts";
import { ImportedBy } from "../../../ui/imported-by.tsx";
import { useStore } from "../../../ui/store.ts";
import { Ago } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { board } from "../../inbox/board.ts";
import { StatusBadge } from "../status-badge.tsx";
import { headline } from "./headline.ts";

/** The context of the question, loaded again when its state changes. */
export function useContextOf({ id, status }: Confirmation): ConfirmationContext | Problem | undefined {
  const [loaded, setLoaded] = useState<{
    readonly id: string;
    readonly value: ConfirmationContext | Problem;
  }>();
  useEffect(() => {
    let isCurrent = true;
    ask(client.confirmations.context(id)).then(
      (outcome) => isCurrent && setLoaded({ id, value: outcome.ok ? outcome.value : outcome.problem }),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, status]);
  return loaded?.id === id ? loaded.value : undefined;
}

export interface SurroundingsProps {
  readonly context: ConfirmationContext | Problem | undefined;
  readonly turnAction?: ReactNode;
}

/** Other calls of the turn, earlier decisions, and the conversation, which is not evidence. */
export function Surroundings({ context, turnAction }: SurroundingsProps): ReactNode {
  if (context === undefined) return <p className="muted small card-section">Loading the context…</p>;
  if ("detail" in context) return <p className="muted small card-section">{context.detail}</p>;
  return (
    <>
      <Conversation messages={context.conversation} />
      {context.turn.length === 0 ? null : (
        <section className="card-section">
          <div className="spread">
            <h2>Other calls in the same turn</h2>
            {turnAction}
          </div>
          <MiniList items={context.turn} />
        </section>
      )}
      {context.earlier.length === 0 ? null : (
        <section className="card-section">
          <h2>Earlier decisions for this tool and requester</h2>
          <MiniList items={context.earlier} />
        </section>
      )}
    </>
  );
}

function MiniList({ items }: { readonly items: readonly Confirmation[] }): ReactNode {
  const { confirmations } = useStore(board);
  const latest = items.map((item) => confirmations.get(item.id) ?? item);
  return (
    <ul className="minis">
      {latest.map(({ id, tool, args, status, decision, requestedAt }) => {
        const { amount, target } = headline(args);
        return (
          <li key={id}>
            <a href={to("confirmations", id)}>
              <Words text={tool} maxLength={60} />
              <span className="muted">
                {" "}
                <Words text={[amount?.text, target?.text].filter(Boolean).join(" · ")} />
              </span>
            </a>
            <span className="small muted">
              {decision === undefined ? null : (
                <>
                  <Words text={decision.by.id} maxLength={60} />,{" "}
                </>
              )}
              <Ago at={decision?.at ?? requestedAt} />
            </span>
            <StatusBadge status={status} />
          </li>
        );
      })}
    </ul>
  );
}

function Conversation({ messages }: { readonly messages: ConfirmationContext["conversation"] }): ReactNode {
  if (messages === undefined || messages.length === 0) return null;
  return (
    <section className="card-section">
      <h2>Conversation before this request</h2>
      <p className="muted small">Untrusted text: it may have been written to persuade you.</p>
      <ol className="talk">
        {messages.map(({ author, at, text, imported }, index) => (
          <li key={index}>
            <span className="small muted">
              {imported === undefined ? (
                <Words text={author} maxLength={60} />
              ) : (
                <ImportedBy by={imported.by} author={author} />
              )}{" "}
              · <Ago at={at} />
            </span>
            <Words text={text} block maxLength={4000} />
          </li>
        ))}
      </ol>
    </section>
  );
}
