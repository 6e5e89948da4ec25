import { Fragment, type ReactNode } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Words } from "../../../ui/words.tsx";
import { type Question, questionOf } from "./question.ts";
import { Voice } from "./voice.tsx";

const NAMES = { author: "Text from the tool’s author", tool: "The tool asks" } as const;

/** Marks in whose words a question is, unless it is in ours. */
export function QuestionVoice({
  confirmation,
  children,
}: {
  readonly confirmation: Confirmation;
  readonly children: ReactNode;
}): ReactNode {
  const { from } = questionOf(confirmation);
  if (from === "us") return children;
  return (
    <Voice of={from === "server" ? "server" : "author"}>
      {children}
      <span className="voice-name">
        {from === "server" ? (
          <>
            Text from <Words text={confirmation.source ?? ""} maxLength={120} />
          </>
        ) : (
          NAMES[from]
        )}
      </span>
    </Voice>
  );
}

/** The question's words; what the model wrote in it is marked. */
export function QuestionWords({ question: { from, pieces } }: { readonly question: Question }): ReactNode {
  return (
    // Our own sentence is English, whatever the direction of what stands in it.
    <span dir={from === "us" ? "ltr" : "auto"}>
      {pieces.map(({ text, isModels }, index) => (
        <Fragment key={index}>
          {index === 0 || text === "?" ? "" : " "}
          <span className={isModels ? "from-model" : undefined}>
            <Words text={text} />
          </span>
        </Fragment>
      ))}
    </span>
  );
}

/** All of a hint, where a title does not say all of it. */
export function WholeHint({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  if (!questionOf(confirmation).isShortened) return null;
  return (
    <QuestionVoice confirmation={confirmation}>
      <p className="card-hint">
        <Words text={confirmation.hint} block maxLength={2000} />
      </p>
    </QuestionVoice>
  );
}
