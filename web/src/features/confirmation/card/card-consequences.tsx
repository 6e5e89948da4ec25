import type { ReactNode } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { questionsIn } from "../forms/questions.ts";

/** What each answer does, and what no answer does. */
export function CardConsequences({
  confirmation,
  isAmended,
}: {
  readonly confirmation: Confirmation;
  /** Other arguments will run than were asked for. */
  readonly isAmended: boolean;
}): ReactNode {
  const { expiresAt, onDenied } = confirmation;
  const isAsked = questionsIn(confirmation) !== undefined;
  return (
    <section className="card-section" aria-label="What happens">
      <dl className="consequences">
        <div>
          <dt className="consequence-yes">{isAsked ? "Answer" : "Approve"}</dt>
          <dd>{isAsked ? "The model reads your answers and goes on." : approval(confirmation, isAmended)}</dd>
        </div>
        <div>
          <dt className="consequence-no">{isAsked ? "Decline" : "Reject"}</dt>
          <dd>
            {isAsked ? "" : "It does not run. "}
            {onDenied === "invoke"
              ? "The tool words the answer to the model, and your reason goes with it."
              : "The model is told “tool call was rejected by the user”, with your reason if you give one."}
          </dd>
        </div>
        <div>
          <dt>No answer</dt>
          <dd>
            {expiresAt === undefined ? (
              "It waits, without a deadline."
            ) : (
              <>
                On <At at={expiresAt} /> it expires: {isAsked ? "" : "it does not run, and "}the model is told
                so.
              </>
            )}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function approval({ tool, repeatable, askedByTool }: Confirmation, isAmended: boolean): ReactNode {
  const name = <Words text={tool} maxLength={120} />;
  if (askedByTool === true) {
    return (
      <>
        {name} goes on with your answer, now
        {repeatable ? "." : ". What it then does cannot be undone from here."}
      </>
    );
  }
  return (
    <>
      {name} runs once, now, with exactly {isAmended ? "what you have changed" : "these arguments"}
      {repeatable ? "; it is declared safe to repeat." : ". It cannot be undone from here."}
    </>
  );
}
