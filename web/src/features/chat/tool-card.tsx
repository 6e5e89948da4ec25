import type { ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { ImportedBy } from "../../ui/imported-by.tsx";
import { plainWords, Words } from "../../ui/words.tsx";
import { ArgumentsView, Value } from "../confirmation/arguments/arguments-view.tsx";
import { AskedArguments } from "../confirmation/card/card-question.tsx";
import { questionOf } from "../confirmation/card/question.ts";
import { QuestionVoice, QuestionWords, WholeHint } from "../confirmation/card/question-voice.tsx";
import { SeenScope, type Unseen, useUnseen } from "../confirmation/card/seen.tsx";
import { Voice } from "../confirmation/card/voice.tsx";
import { DecisionBar } from "../confirmation/decide/decision-bar.tsx";
import { useAnswer } from "../confirmation/decide/use-answer.ts";
import { AnswerForms } from "../confirmation/forms/answer-forms.tsx";
import { questionsIn } from "../confirmation/forms/questions.ts";
import { decisionSentence } from "../confirmation/status-words.ts";
import { useConfirmation } from "../inbox/use-confirmation.ts";
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
  return (
    <article className="tool" aria-label={`Tool call ${plainWords(item.tool)}`} data-state={word}>
      <header className="spread">
        <Heading item={item} confirmation={confirmation} />
        <span className={`badge badge-${tone}`}>{word}</span>
      </header>
      {confirmation === undefined ? (
        <Voice of="model">
          <ArgumentsView args={item.args} />
        </Voice>
      ) : (
        <WholeAsked id={confirmation.id} />
      )}
      {item.result === undefined ? null : (
        <details>
          <summary className="small muted">Result</summary>
          <Value value={item.result} />
        </details>
      )}
    </article>
  );
}

function Heading({ item, confirmation }: Pick<ToolCardProps, "item" | "confirmation">): ReactNode {
  const name = <Words text={item.tool} maxLength={80} />;
  const { path = [item.author], source } = confirmation ?? {};
  return (
    <h2>
      {confirmation === undefined ? name : <a href={to("confirmations", confirmation.id)}>{name}</a>}
      {item.importedBy === undefined ? null : (
        <span className="muted small">
          {" "}
          <ImportedBy by={item.importedBy} author={item.author} />
        </span>
      )}
      {item.nested ? (
        <span className="muted small">
          {" "}
          by <Words text={path.join(" › ")} maxLength={120} />
        </span>
      ) : null}
      {source === undefined ? null : (
        <>
          {" "}
          <span className="card-source">
            from <Words text={source} maxLength={120} />
          </span>
        </>
      )}
    </h2>
  );
}

/** The full values are loaded first: nobody decides on truncated ones. */
function WholeAsked({ id }: { readonly id: string }): ReactNode {
  const confirmation = useConfirmation(id);
  if (confirmation === undefined) return <p className="small muted">Loading all of it…</p>;
  if ("detail" in confirmation) return <p className="small muted">{confirmation.detail}</p>;
  return <Asked confirmation={confirmation} />;
}

/** What a person was asked about the call, and what they said. */
function Asked({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { unseen, seen } = useUnseen();
  const isOpen = confirmation.status === "requested";
  const told = decisionSentence(confirmation);
  // Questions that wait are shown as a form, with all there is in the arguments.
  const isForm = isOpen && questionsIn(confirmation) !== undefined;
  return (
    <>
      {isForm || !isOpen ? null : <AskedQuestion confirmation={confirmation} />}
      {isForm ? null : (
        <SeenScope seen={seen}>
          <AskedArguments confirmation={confirmation} />
        </SeenScope>
      )}
      {isOpen ? <OpenQuestion confirmation={confirmation} unseen={unseen} /> : null}
      {told === undefined ? null : (
        <p className="small muted">
          <Words text={told} maxLength={300} />
        </p>
      )}
      <Given confirmation={confirmation} />
    </>
  );
}

function OpenQuestion({
  confirmation,
  unseen,
}: {
  readonly confirmation: Confirmation;
  readonly unseen: Unseen;
}): ReactNode {
  const answer = useAnswer(confirmation);
  return (
    <div className="tool-question">
      <AnswerForms confirmation={confirmation} answer={answer} />
      <DecisionBar confirmation={confirmation} answer={answer} unseen={unseen} inChat />
    </div>
  );
}

function AskedQuestion({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  return (
    <>
      <QuestionVoice confirmation={confirmation}>
        <p className="card-hint">
          <QuestionWords question={questionOf(confirmation)} />
        </p>
      </QuestionVoice>
      <WholeHint confirmation={confirmation} />
    </>
  );
}

/** What somebody said with their decision: the reason, and the answer to the tool. */
function Given({ confirmation: { decision } }: { readonly confirmation: Confirmation }): ReactNode {
  const { reason, payload } = decision ?? {};
  return (
    <>
      {reason === undefined ? null : (
        <blockquote className="card-reason">
          <Words text={reason} block maxLength={4000} />
        </blockquote>
      )}
      {payload === undefined ? null : (
        <div className="labelled">
          <h2>Answered with</h2>
          <Value value={payload} />
        </div>
      )}
    </>
  );
}
