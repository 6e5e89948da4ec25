import type { ReactNode } from "react";
import type { Confirmation, JsonValue } from "../../../api/types.ts";
import { Ago, At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { questionsIn } from "../forms/questions.ts";
import { decisionSentence } from "../status-words.ts";
import { Value } from "./arguments-view.tsx";
import { RawJson } from "./raw-json.tsx";
import { Voice } from "./voice.tsx";

/** Who decided, what ran, and the result. */
export function CardOutcome({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { decision, execution, result, source } = confirmation;
  const told = decisionSentence(confirmation);
  // Questions stand with their answers, which is all that came back.
  const isAnswered = questionsIn(confirmation) !== undefined;
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
      {decision === undefined ? null : <Said decision={decision} isAnswered={isAnswered} />}
      {execution === undefined ? null : <Ran execution={execution} />}
      {result === undefined || isAnswered ? null : <CameBack source={source} value={result} />}
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

/** What somebody said with their decision. */
function Said({
  decision: { reason, args, payload },
  isAnswered,
}: {
  readonly decision: NonNullable<Confirmation["decision"]>;
  readonly isAnswered: boolean;
}): ReactNode {
  return (
    <>
      {reason === undefined ? null : (
        <blockquote className="card-reason">
          <Words text={reason} block maxLength={4000} />
        </blockquote>
      )}
      {args === undefined ? null : <Labelled name="Ran with changed arguments" value={args} />}
      {payload === undefined || isAnswered ? null : <Labelled name="Answered with" value={payload} />}
    </>
  );
}

/** The tool's result; marked if its text comes from others. */
function CameBack({
  source,
  value,
}: {
  readonly source: string | undefined;
  readonly value: JsonValue;
}): ReactNode {
  if (source === undefined) return <Labelled name="Result" value={value} />;
  return (
    <Voice of="server">
      <span className="voice-name">
        Text from <Words text={source} maxLength={120} />
      </span>
      <Labelled name="Result" value={value} />
    </Voice>
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
