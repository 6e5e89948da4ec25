import type { ReactNode } from "react";
import type { Confirmation, JsonValue } from "../../../api/types.ts";
import { Ago, At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { Value } from "../arguments/arguments-view.tsx";
import { questionsIn } from "../forms/questions.ts";
import { decisionSentence, settlementSentence } from "../status-words.ts";
import { RawJson } from "./raw-json.tsx";
import { Voice } from "./voice.tsx";

/** Who decided, what ran, and the result. */
export function CardOutcome({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { decision, execution, settlement, result, source } = confirmation;
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
            <At at={decision.at} />
          </span>
        )}
      </p>
      {decision === undefined ? null : <Said decision={decision} isAnswered={isAnswered} />}
      {execution === undefined ? null : <Ran execution={execution} settlement={settlement} />}
      {settlement === undefined ? null : (
        <p className="card-verdict">
          <Words text={settlementSentence(settlement)} maxLength={400} />
          <span className="muted">
            {" "}
            <At at={settlement.at} />
          </span>
        </p>
      )}
      {result === undefined || isAnswered ? null : settlement === undefined || settlement.as === "retry" ? (
        <CameBack source={source} value={result} />
      ) : (
        <Voice of="person">
          <Labelled name={`Result, as ${settlement.by.id} reported it`} value={result} />
        </Voice>
      )}
    </section>
  );
}

interface RanProps {
  readonly execution: NonNullable<Confirmation["execution"]>;
  readonly settlement: Confirmation["settlement"];
}

function Ran({ execution: { startedAt, endedAt, attempt }, settlement }: RanProps): ReactNode {
  const isSettled = settlement !== undefined && settlement.as !== "retry";
  return (
    <p className="small muted">
      Started <Ago at={startedAt} />
      {isSettled
        ? "; nobody saw it end"
        : endedAt === undefined
          ? ", not finished"
          : `, took ${duration(startedAt, endedAt)}`}
      {attempt > 1 ? `, attempt ${attempt}` : ""}
    </p>
  );
}

/** What somebody said with their decision. */
function Said({
  decision: { reason, payload },
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
        <h2>
          <Words text={name} maxLength={160} />
        </h2>
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
