import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { plainWords, Words } from "../../ui/words.tsx";
import { AnswerForms } from "../confirmation/answer-forms.tsx";
import { ArgumentsView, Value } from "../confirmation/arguments-view.tsx";
import { DecisionBar } from "../confirmation/decision-bar.tsx";
import { SeenScope, useUnseen } from "../confirmation/seen.tsx";
import { decisionSentence } from "../confirmation/status-words.ts";
import { useAnswer } from "../confirmation/use-answer.ts";
import type { ToolItem } from "./talk.ts";
import { toolState } from "./tool-state.ts";

export interface ToolCardProps {
  readonly item: ToolItem;
  readonly confirmation: Confirmation | undefined;
  readonly isWorking: boolean;
}

/** A tool call in the conversation: its state, its arguments, and the decision where one is open. */
export function ToolCard({ item, confirmation, isWorking }: ToolCardProps): ReactNode {
  const { word, tone } = toolState(item, confirmation, isWorking);
  const { unseen, seen } = useUnseen();
  const told = confirmation === undefined ? undefined : decisionSentence(confirmation);
  return (
    <article className="tool" aria-label={`Tool call ${plainWords(item.tool)}`} data-state={word}>
      <header className="spread">
        <h2>
          {confirmation === undefined ? (
            <Words text={item.tool} maxLength={80} />
          ) : (
            <a href={to("confirmations", confirmation.id)}>
              <Words text={item.tool} maxLength={80} />
            </a>
          )}
          {item.nested ? (
            <span className="muted small">
              {" "}
              by <Words text={(confirmation?.path ?? [item.author]).join(" › ")} maxLength={120} />
            </span>
          ) : null}
        </h2>
        <span className={`badge badge-${tone}`}>{word}</span>
      </header>
      <SeenScope seen={seen}>
        <ArgumentsView args={confirmation?.args ?? item.args} />
      </SeenScope>
      {confirmation?.status === "requested" ? (
        <OpenQuestion confirmation={confirmation} unseen={unseen} />
      ) : null}
      {told === undefined ? null : (
        <p className="small muted">
          <Words text={told} maxLength={300} />
        </p>
      )}
      {item.result === undefined ? null : (
        <details>
          <summary className="small muted">What came back</summary>
          <Value value={item.result} />
        </details>
      )}
    </article>
  );
}

function OpenQuestion({
  confirmation,
  unseen,
}: {
  readonly confirmation: Confirmation;
  readonly unseen: number;
}): ReactNode {
  const answer = useAnswer(confirmation);
  return (
    <div className="tool-question">
      <p>
        <Words text={confirmation.hint} maxLength={300} />
      </p>
      <AnswerForms confirmation={confirmation} answer={answer} />
      <DecisionBar confirmation={confirmation} answer={answer} unseen={unseen} inChat />
    </div>
  );
}
