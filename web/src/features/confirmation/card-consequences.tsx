import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";

/** What each answer does, and what no answer does. */
export function CardConsequences({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { expiresAt, onDenied } = confirmation;
  return (
    <section className="card-section" aria-label="What happens">
      <dl className="consequences">
        <div>
          <dt className="consequence-yes">Approve</dt>
          <dd>{approval(confirmation)}</dd>
        </div>
        <div>
          <dt className="consequence-no">Reject</dt>
          <dd>
            It does not run.{" "}
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
                On <At at={expiresAt} /> it expires: it does not run, and the model is told so.
              </>
            )}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function approval({ tool, repeatable, askedByTool }: Confirmation): ReactNode {
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
      {name} runs once, now, with exactly these arguments
      {repeatable ? "; it is declared safe to repeat." : ". It cannot be undone from here."}
    </>
  );
}
