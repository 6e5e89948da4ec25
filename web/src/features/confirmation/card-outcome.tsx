import type { ReactNode } from "react";
import type { Confirmation, JsonValue } from "../../api/types.ts";
import { Ago, At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { Value } from "./arguments-view.tsx";
import { RawJson } from "./raw-json.tsx";
import { decisionSentence } from "./status-words.ts";

/** Who decided, what ran and what came back. */
export function CardOutcome({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { decision, execution, result } = confirmation;
  const told = decisionSentence(confirmation);
  if (told === undefined) return null;
  return (
    <section className="card-section card-outcome" aria-label="Outcome">
      <p className="card-verdict">
        <Words text={told} maxLength={400} />
        {decision === undefined ? null : (
          <span className="muted">
            {" "}
            · <At at={decision.at} />
          </span>
        )}
      </p>
      {decision?.reason === undefined ? null : (
        <blockquote className="card-reason">
          <Words text={decision.reason} block maxLength={4000} />
        </blockquote>
      )}
      {decision?.args === undefined ? null : (
        <Labelled name="Ran with changed arguments" value={decision.args} />
      )}
      {decision?.payload === undefined ? null : <Labelled name="Answered with" value={decision.payload} />}
      {execution === undefined ? null : <Ran execution={execution} />}
      {result === undefined ? null : <Labelled name="What came back" value={result} />}
    </section>
  );
}

function Ran({ execution }: { readonly execution: NonNullable<Confirmation["execution"]> }): ReactNode {
  const { startedAt, endedAt, attempt } = execution;
  return (
    <p className="small muted">
      Started <Ago at={startedAt} />
      {endedAt === undefined ? ", not finished" : `, took ${duration(startedAt, endedAt)}`}
      {attempt > 1 ? `, attempt ${attempt}` : ""}
    </p>
  );
}

function Labelled({ name, value }: { readonly name: string; readonly value: JsonValue }): ReactNode {
  return (
    <div className="labelled">
      <div className="spread">
        <h2>{name}</h2>
        <RawJson value={value} />
      </div>
      <Value value={value} />
    </div>
  );
}

function duration(from: string, until: string): string {
  const ms = Math.max(0, Date.parse(until) - Date.parse(from));
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
