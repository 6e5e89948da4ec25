import type { ReactNode } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Changes, type ChangesProps } from "../arguments/changes.tsx";
import type { Answer, FormState } from "../decide/use-answer.ts";
import { QuestionsForm } from "./questions-form.tsx";
import { SchemaForm } from "./schema-form.tsx";

export interface AnswerFormsProps {
  readonly confirmation: Confirmation;
  readonly answer: Answer;
  /** An answer is about to be sent: it cannot be changed any more. */
  readonly isLocked?: boolean;
}

/** What the tool wants to be told with an approval, and the arguments where they may be changed. */
export function AnswerForms({ confirmation, answer, isLocked = false }: AnswerFormsProps): ReactNode {
  const { payload, amendment, amendOff, isAmending, setAmending } = answer;
  const mayAmend = confirmation.can.amend && amendment !== undefined;
  if (payload === undefined && !mayAmend) return null;
  return (
    <section className="card-section" aria-label="Your answer">
      <fieldset className="lockable" role="presentation" disabled={isLocked}>
        {payload === undefined ? null : (
          <PayloadForm answer={answer} payload={payload} confirmation={confirmation} />
        )}
        {mayAmend ? (
          <div className="amend">
            <Button small expanded={isAmending} off={amendOff} onClick={() => setAmending(!isAmending)}>
              {isAmending ? "Keep the original arguments" : "Change the arguments…"}
            </Button>
            {isAmending ? (
              <>
                <SchemaForm
                  form={amendment.form}
                  typed={amendment.typed}
                  faults={faultsOf(amendment, answer.isChecked)}
                  onType={amendment.onType}
                />
                <Amended
                  before={confirmation.args}
                  {...(answer.amended === undefined ? {} : { after: answer.amended })}
                />
              </>
            ) : null}
          </div>
        ) : null}
      </fieldset>
    </section>
  );
}

function PayloadForm({
  answer: { questions, isChecked },
  payload,
  confirmation,
}: AnswerFormsProps & { readonly payload: FormState }): ReactNode {
  if (questions !== undefined) {
    return (
      <QuestionsForm
        confirmation={confirmation}
        questions={questions}
        typed={payload.typed}
        onType={payload.onType}
      />
    );
  }
  return (
    <>
      <h2>Your answer (sent to the tool)</h2>
      <SchemaForm
        form={payload.form}
        typed={payload.typed}
        faults={faultsOf(payload, isChecked)}
        onType={payload.onType}
      />
    </>
  );
}

/** Input errors; fields that nobody touched show none until an answer was tried. */
function faultsOf({ result, typed }: FormState, isChecked: boolean): { readonly [name: string]: string } {
  if (result.ok) return {};
  return Object.fromEntries(
    Object.entries(result.faults).filter(([name]) => isChecked || typed[name] !== undefined),
  );
}

/** What will run instead of what was asked. */
function Amended({ before, after }: Pick<ChangesProps, "before"> & Partial<ChangesProps>): ReactNode {
  if (after === undefined) return <p className="small muted">Nothing is changed yet.</p>;
  return (
    <div className="changes" role="group" aria-label="What will run instead">
      <h3>What runs instead (the model is told)</h3>
      <Changes before={before} after={after} />
    </div>
  );
}
