import type { ReactNode } from "react";
import type { Problem } from "../../../api/client.ts";
import type { Confirmation, ConfirmationContext } from "../../../api/types.ts";
import { Face } from "../../../ui/face.tsx";
import { Ago } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { questionsIn } from "../forms/questions.ts";
import { StatusBadge } from "../status-badge.tsx";
import { Deadline } from "./deadline.tsx";
import { type Fact, headline } from "./headline.ts";
import { type Question, questionOf } from "./question.ts";
import { QuestionVoice, QuestionWords } from "./question-voice.tsx";

export interface CardHeadProps {
  readonly confirmation: Confirmation;
  /** Undefined while it is loaded. */
  readonly context: ConfirmationContext | Problem | undefined;
}

/** The question first, in plain words; above it the tool, below it who asks and what they said. */
export function CardHead({ confirmation, context }: CardHeadProps): ReactNode {
  const { tool, question: name, status, expiresAt, source, settlement } = confirmation;
  const question = questionOf(confirmation);
  return (
    <header className="card-head">
      {/* That it is requested, its buttons show. */}
      <p className={status === "requested" ? "sr-only" : undefined}>
        <StatusBadge status={status} settlement={settlement} />
      </p>
      {status === "requested" && expiresAt !== undefined ? <Deadline at={expiresAt} /> : null}
      <QuestionVoice confirmation={confirmation}>
        <h1 className="card-title" tabIndex={-1}>
          <span className="card-eyebrow">
            <Words text={tool} maxLength={120} />
            {name === undefined || question.from === "us" ? null : (
              <>
                {" "}
                · <Words text={name} maxLength={120} />
              </>
            )}
          </span>{" "}
          <QuestionWords question={question} />
        </h1>
      </QuestionVoice>
      {source === undefined ? null : (
        <p className="card-source">
          from <Words text={source} maxLength={120} />
        </p>
      )}
      <p className="card-by">
        <Face name={confirmation.user} />
        <span>
          <Words text={confirmation.user} maxLength={120} />
          <span className="muted">
            {" "}
            through <Words text={confirmation.agent} maxLength={80} /> · <Ago at={confirmation.requestedAt} />
          </span>
        </span>
      </p>
      <Asked context={context} />
      <Why confirmation={confirmation} />
      <Facts confirmation={confirmation} question={question} />
    </header>
  );
}

/** What the requester said last before it, to be compared with what would run. One line, which is there from the start. */
function Asked({ context }: Pick<CardHeadProps, "context">): ReactNode {
  const messages = context === undefined || "detail" in context ? undefined : context.conversation;
  const said = messages?.findLast(({ author, imported }) => author === "user" && imported === undefined);
  return (
    <p className="card-asked" aria-busy={context === undefined}>
      {context === undefined ? null : said === undefined ? (
        <span className="muted">No message of theirs can be shown.</span>
      ) : (
        <>
          <span className="muted">In their words:</span> “<Words text={said.text} maxLength={300} />”
        </>
      )}
    </p>
  );
}

/** Why a person is asked at all: the reasons of the rules, the tool or the hook that ask. */
function Why({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { why, status } = confirmation;
  // Questions are asked for their answers.
  if (why.length === 0 || questionsIn(confirmation) !== undefined) return null;
  return (
    <p className="card-why">
      <span className="muted">{status === "requested" ? "Needs approval:" : "Needed approval:"}</span>{" "}
      <Words text={why.join("; ")} maxLength={600} />
    </p>
  );
}

/** How much and on what, where an author's question does not say so already. */
function Facts({
  confirmation: { args },
  question,
}: {
  readonly confirmation: Confirmation;
  readonly question: Question;
}): ReactNode {
  if (question.from === "us") return null;
  const { amount, target } = headline(args);
  const said = question.pieces.map(({ text }) => text).join(" ");
  const facts = [amount, target].filter((fact) => fact !== undefined).filter((fact) => !says(said, fact));
  if (facts.length === 0) return null;
  return (
    <p className="card-facts">
      {facts.map((fact) => (
        <span key={fact.name}>
          <span className="card-fact-name">
            <Words text={fact.name} maxLength={40} />
          </span>{" "}
          <Words text={fact.text} />
        </span>
      ))}
    </p>
  );
}

function says(said: string, { text }: Fact): boolean {
  const digits = text.replace(/\D/g, "");
  return said.includes(text) || (digits !== "" && said.replace(/\D/g, "").includes(digits));
}
