import type { ReactNode } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Words } from "../../../ui/words.tsx";
import { questionsIn } from "../forms/questions.ts";
import { StatusBadge } from "../status-badge.tsx";
import { Deadline } from "./deadline.tsx";
import { headline } from "./headline.ts";

/** What it is about, before anything else: the action, how much, on what; the state and the time left. */
export function CardHead({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { args, status, expiresAt, source } = confirmation;
  const { target, amount } = headline(args);
  return (
    <header className="card-head">
      <div className="spread">
        <StatusBadge status={status} settlement={confirmation.settlement} />
        {status === "requested" && expiresAt !== undefined ? <Deadline at={expiresAt} /> : null}
      </div>
      <h1 className="card-title" tabIndex={-1}>
        <Title confirmation={confirmation} />
      </h1>
      {source === undefined ? null : (
        <p className="card-source">
          from <Words text={source} maxLength={120} />
        </p>
      )}
      {(target === undefined && amount === undefined) || questionsIn(confirmation) !== undefined ? null : (
        <p className="card-facts">
          {amount === undefined ? null : (
            <span className="card-amount">
              <span className="sr-only">{amount.name}: </span>
              <Words text={amount.text} />
            </span>
          )}
          {target === undefined ? null : (
            <span className="card-target">
              <span className="card-fact-name">
                <Words text={target.name} maxLength={40} />
              </span>{" "}
              <Words text={target.text} />
            </span>
          )}
        </p>
      )}
    </header>
  );
}

/** The action; or that there are questions, where that is all it is about. */
function Title({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { tool, question } = confirmation;
  const asked = questionsIn(confirmation)?.length ?? 0;
  if (asked > 0) return asked === 1 ? "A question for you" : `${asked} questions for you`;
  return (
    <>
      <Words text={tool} maxLength={120} />
      {question === undefined ? null : (
        <span className="card-question">
          {" "}
          · <Words text={question} maxLength={120} />
        </span>
      )}
    </>
  );
}
