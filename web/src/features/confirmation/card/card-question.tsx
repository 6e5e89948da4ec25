import type { ReactNode } from "react";
import type { Confirmation, JsonObject } from "../../../api/types.ts";
import { mixedWords } from "../../../ui/scripts.ts";
import { At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { ArgumentsView, type ArgumentsViewProps } from "../arguments/arguments-view.tsx";
import { Changes } from "../arguments/changes.tsx";
import { questionsIn } from "../forms/questions.ts";
import { QuestionsView } from "../forms/questions-view.tsx";
import { WholeHint } from "./question-voice.tsx";
import { RawJson } from "./raw-json.tsx";
import { Voice } from "./voice.tsx";

/** The question itself: the hint as one line, and beside it all the arguments. */
export function CardQuestion({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { hint, args, status } = confirmation;
  // A form of questions shows all there is in the arguments.
  const questions = questionsIn(confirmation);
  const isForm = status === "requested" && questions !== undefined;
  const mixed = mixedWords(JSON.stringify(args) + hint);
  if (isForm && mixed.length === 0) return null;
  return (
    <section className="card-section" aria-label="What is asked">
      {isForm ? null : questions === undefined ? (
        <WholeHint confirmation={confirmation} />
      ) : (
        <QuestionsView confirmation={confirmation} questions={questions} />
      )}
      {mixed.length === 0 ? null : (
        <p className="notice notice-warn" role="note">
          {mixed.slice(0, 3).map(quoted)} mixes letters from different scripts. They may be look-alikes.
        </p>
      )}
      {questions !== undefined ? null : <AskedArguments confirmation={confirmation} />}
    </section>
  );
}

/** The arguments, and apart from them what an approver has changed: each under the name of who wrote it. */
export function AskedArguments({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { args, originalArgs, status, layout } = confirmation;
  if (originalArgs === undefined)
    return <ModelArguments args={args} layout={layout} name="Arguments, written by the model" />;
  // As long as there is something to decide, all that will run is shown.
  return status === "requested" ? (
    <>
      <ModelArguments
        args={args}
        layout={layout}
        name="Arguments, written by the model and changed by an approver"
      />
      <ChangedBy confirmation={confirmation} before={originalArgs} />
    </>
  ) : (
    <>
      <ModelArguments args={originalArgs} layout={layout} name="Arguments, written by the model" />
      <ChangedBy confirmation={confirmation} before={originalArgs} />
    </>
  );
}

interface ModelArgumentsProps extends ArgumentsViewProps {
  readonly name: string;
}

function ModelArguments({ args, layout, name }: ModelArgumentsProps): ReactNode {
  return (
    <Voice of="model">
      <div className="spread">
        <h2 className="voice-name">{name}</h2>
        <RawJson value={args} />
      </div>
      <ArgumentsView args={args} layout={layout} />
    </Voice>
  );
}

function ChangedBy({
  confirmation: { args, decision },
  before,
}: {
  readonly confirmation: Confirmation;
  readonly before: JsonObject;
}): ReactNode {
  return (
    <Voice of="person">
      <div className="spread">
        <h2 className="voice-name">
          {decision?.args === undefined ? (
            "Changed by an approver"
          ) : (
            <>
              Changed by <Words text={decision.by.id} maxLength={120} /> · <At at={decision.at} />
            </>
          )}
        </h2>
        <RawJson value={args} label="Raw JSON of what runs" />
      </div>
      <Changes before={before} after={args} />
    </Voice>
  );
}

function quoted(word: string, index: number): ReactNode {
  return (
    <span key={word}>
      {index === 0 ? "" : ", "}“<Words text={word} maxLength={60} />”
    </span>
  );
}
