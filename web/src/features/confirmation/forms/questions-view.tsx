import type { UserQuestion } from "countersign/protocol";
import type { ReactNode } from "react";
import type { Confirmation, JsonValue } from "../../../api/types.ts";
import { Words } from "../../../ui/words.tsx";
import { RawJson } from "../card/raw-json.tsx";
import { Voice } from "../card/voice.tsx";
import { asObject } from "./form-fields.ts";
import { answerName } from "./questions.ts";

export interface QuestionsViewProps {
  readonly confirmation: Confirmation;
  readonly questions: readonly UserQuestion[];
}

/** Questions that are not to be answered any more, with the answers where there are some. */
export function QuestionsView({
  confirmation: { args, source, decision },
  questions,
}: QuestionsViewProps): ReactNode {
  const answers = asObject(decision?.payload) ?? {};
  return (
    <Voice of={source === undefined ? "model" : "server"}>
      <div className="spread">
        <h2 className="voice-name">Questions and answers</h2>
        <RawJson value={decision?.payload === undefined ? args : { ...args, answers }} />
      </div>
      <ol className="questions">
        {questions.map(({ question, choices }, index) => (
          <li className="question" key={answerName(index)}>
            <strong>
              <Words text={question} block />
            </strong>
            {choices.length === 0 ? null : (
              <span className="field-note">
                <Words text={choices.join(" · ")} block />
              </span>
            )}
            <Answered answer={answers[answerName(index)]} />
          </li>
        ))}
      </ol>
    </Voice>
  );
}

function Answered({ answer }: { readonly answer: JsonValue | undefined }): ReactNode {
  if (answer === undefined) return <span className="muted">No answer.</span>;
  return (
    <span className="question-answer">
      <Words text={typeof answer === "string" ? answer : listed(answer)} block />
    </span>
  );
}

function listed(answer: JsonValue): string {
  const texts: readonly JsonValue[] = Array.isArray(answer) ? answer : [answer];
  return texts.map((text) => (typeof text === "string" ? text : JSON.stringify(text))).join("; ");
}
