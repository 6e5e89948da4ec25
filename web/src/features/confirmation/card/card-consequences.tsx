import type { ReactNode } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Until } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { approvalsMissing, denialsMissing, more } from "../decide/votes.ts";
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
  const { expiresAt, can } = confirmation;
  const isAsked = questionsIn(confirmation) !== undefined;
  return (
    <section className="card-section" aria-label="What happens">
      {can.for === undefined ? null : (
        <p>
          You answer for <Words text={can.for} maxLength={120} />, who lets you vote for them.
        </p>
      )}
      <dl className="consequences">
        <div>
          <dt className="consequence-yes">{isAsked ? "Answer" : "Approve"}</dt>
          <dd>
            {isAsked ? "The model gets your answers and continues." : approval(confirmation, isAmended)}
          </dd>
        </div>
        <div>
          <dt className="consequence-no">{isAsked ? "Decline" : "Reject"}</dt>
          <dd>
            {denialsMissing(confirmation) > 1
              ? `Your rejection is recorded. ${more(denialsMissing(confirmation) - 1, "rejection")} needed to deny it. Then: `
              : ""}
            {isAsked ? REJECTED : rejection(confirmation)}
          </dd>
        </div>
        <div>
          <dt>No answer</dt>
          <dd>
            {expiresAt === undefined ? (
              "It keeps waiting. There is no deadline."
            ) : (
              <>
                <Until at={expiresAt} /> it expires: {isAsked ? EXPIRED : expiry(confirmation)}
              </>
            )}
          </dd>
        </div>
      </dl>
    </section>
  );
}

const REJECTED = "The model is told “tool call was rejected by the user”, with your reason if you give one.";
const EXPIRED = "the model is told so.";
const TO_WORD_IT = "runs once more, only to write the answer to the model";

/** A tool that asks while it runs has started: nobody may be told that it does not run. */
function rejection({ askedByTool, onDenied }: Confirmation): string {
  if (askedByTool !== true) return `It does not run. ${REJECTED}`;
  return onDenied === "invoke"
    ? `It ${TO_WORD_IT}, with your reason if you give one.`
    : `It has started, and does not continue. ${REJECTED}`;
}

function expiry({ askedByTool, onDenied }: Confirmation): string {
  if (askedByTool !== true) return `it does not run, and ${EXPIRED}`;
  return onDenied === "invoke" ? `it ${TO_WORD_IT}.` : `it does not continue, and ${EXPIRED}`;
}

function approval(confirmation: Confirmation, isAmended: boolean): ReactNode {
  const { tool, repeatable, askedByTool } = confirmation;
  const name = <Words text={tool} maxLength={120} />;
  const missing = approvalsMissing(confirmation) - 1;
  if (missing > 0) {
    return isAmended ? (
      <>
        A new question asks about the changed arguments, and your approval counts for it. {name} runs when{" "}
        {more(missing, "approval")} given.
      </>
    ) : (
      <>
        Your approval is recorded. {name} runs, at most once, when {more(missing, "approval")} given.
      </>
    );
  }
  if (askedByTool === true) {
    return (
      <>
        {name} continues now with your answer
        {repeatable ? "." : ". You cannot undo what it does."}
      </>
    );
  }
  return (
    <>
      {name} runs now, at most once, with exactly {isAmended ? "the changed arguments" : "these arguments"}
      {repeatable
        ? ". After a crash it may run again: its author declared it safe to repeat."
        : ". You cannot undo it."}
    </>
  );
}
