import type { ReactNode } from "react";
import type { Confirmation, JsonObject, JsonValue } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Words } from "../../../ui/words.tsx";
import type { Answer, FormState } from "../decide/use-answer.ts";
import { QuestionsForm } from "./questions-form.tsx";
import { SchemaForm } from "./schema-form.tsx";

export interface AnswerFormsProps {
  readonly confirmation: Confirmation;
  readonly answer: Answer;
}

/** What the tool wants to be told with an approval, and the arguments where they may be changed. */
export function AnswerForms({ confirmation, answer }: AnswerFormsProps): ReactNode {
  const { payload, amendment, amendOff, isAmending, setAmending } = answer;
  const mayAmend = confirmation.can.amend && amendment !== undefined;
  if (payload === undefined && !mayAmend) return null;
  return (
    <section className="card-section" aria-label="Your answer">
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
                faults={faultsOf(amendment)}
                onType={amendment.onType}
              />
              <Changes before={confirmation.args} after={answer.amended} />
            </>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}

function PayloadForm({
  answer: { questions },
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
        faults={faultsOf(payload)}
        onType={payload.onType}
      />
    </>
  );
}

/** Input errors; untouched fields show none, but the button says that they are missing. */
function faultsOf({ result, typed }: FormState): { readonly [name: string]: string } {
  if (result.ok) return {};
  return Object.fromEntries(Object.entries(result.faults).filter(([name]) => typed[name] !== undefined));
}

/** What will run instead of what was asked. */
function Changes({
  before,
  after,
}: {
  readonly before: JsonObject;
  readonly after: JsonObject | undefined;
}): ReactNode {
  if (after === undefined) return <p className="small muted">Nothing is changed yet.</p>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return (
    <div className="changes" role="group" aria-label="What will run instead">
      <h3>What runs instead (the model is told)</h3>
      <dl>
        {changed.map((name) => (
          <div key={name}>
            <dt>
              <Words text={name} maxLength={120} />
            </dt>
            <dd>
              <del>
                <Words text={shortly(before[name])} maxLength={300} />
              </del>{" "}
              <ins>
                <Words text={shortly(after[name])} maxLength={300} />
              </ins>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function shortly(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}
