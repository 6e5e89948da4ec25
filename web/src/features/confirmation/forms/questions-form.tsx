import type { UserQuestion } from "countersign/protocol";
import { type ReactNode, useId } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Words } from "../../../ui/words.tsx";
import { RawJson } from "../card/raw-json.tsx";
import { Voice } from "../card/voice.tsx";
import type { Typed } from "./form-fields.ts";
import { answerName, pick, readPicks } from "./questions.ts";

export interface QuestionsFormProps {
  readonly confirmation: Confirmation;
  readonly questions: readonly UserQuestion[];
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

/** Questions to be answered: by picking, and always in one's own words too. */
export function QuestionsForm({
  confirmation: { source, args },
  questions,
  typed,
  onType,
}: QuestionsFormProps): ReactNode {
  return (
    <Voice of={source === undefined ? "model" : "server"}>
      <div className="spread">
        <h2 className="voice-name">
          {source === undefined ? (
            "Text from the model"
          ) : (
            <>
              Text from <Words text={source} maxLength={120} />
            </>
          )}
        </h2>
        <RawJson value={args} />
      </div>
      <ol className="questions">
        {questions.map((question, index) => (
          <li key={answerName(index)}>
            <QuestionField
              question={question}
              text={typed[answerName(index)] ?? ""}
              onType={(text) => onType({ ...typed, [answerName(index)]: text })}
            />
          </li>
        ))}
      </ol>
    </Voice>
  );
}

interface QuestionFieldProps {
  readonly question: UserQuestion;
  readonly text: string;
  readonly onType: (text: string) => void;
}

function QuestionField({ question: asked, text, onType }: QuestionFieldProps): ReactNode {
  const { question, choices, multiple } = asked;
  const id = useId();
  const picks = readPicks(text);
  const hasChoices = choices.length > 0;
  return (
    <fieldset className="question">
      <legend>
        <Words text={question} block />
      </legend>
      {multiple && hasChoices ? <p className="field-note">Select all that apply.</p> : null}
      {choices.map((choice, index) => (
        <label className="question-choice" key={`${index} ${choice}`}>
          <input
            type={multiple ? "checkbox" : "radio"}
            name={id}
            checked={picks.picked.includes(choice)}
            onChange={() => onType(pick(picks, multiple, { choice }))}
          />
          <Words text={choice} block />
        </label>
      ))}
      <div className="field">
        <label htmlFor={id}>{hasChoices ? "In your own words" : "Your answer"}</label>
        <textarea
          id={id}
          className="input"
          dir="auto"
          rows={hasChoices ? 1 : 2}
          value={picks.own}
          onChange={(event) => onType(pick(picks, multiple, { own: event.target.value }))}
        />
      </div>
    </fieldset>
  );
}
