import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { Words } from "../../ui/words.tsx";
import { Deadline } from "./deadline.tsx";
import { headline } from "./headline.ts";
import { StatusBadge } from "./status-badge.tsx";

/** What it is about, before anything else: the action, how much, on what; the state and the time left. */
export function CardHead({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { tool, args, status, expiresAt, question } = confirmation;
  const { target, amount } = headline(args);
  return (
    <header className="card-head">
      <div className="spread">
        <StatusBadge status={status} />
        {status === "requested" && expiresAt !== undefined ? <Deadline at={expiresAt} /> : null}
      </div>
      <h1 className="card-title" tabIndex={-1}>
        <Words text={tool} maxLength={120} />
        {question === undefined ? null : (
          <span className="card-question">
            {" "}
            · <Words text={question} maxLength={120} />
          </span>
        )}
      </h1>
      {target === undefined && amount === undefined ? null : (
        <p className="card-facts">
          {amount === undefined ? null : (
            <span className="card-amount">
              <span className="sr-only">{amount.name}: </span>
              <Words text={amount.text} maxLength={90} />
            </span>
          )}
          {target === undefined ? null : (
            <span className="card-target">
              <span className="card-fact-name">
                <Words text={target.name} maxLength={40} />
              </span>{" "}
              <Words text={target.text} maxLength={90} />
            </span>
          )}
        </p>
      )}
    </header>
  );
}
