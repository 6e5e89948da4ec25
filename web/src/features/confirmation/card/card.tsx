import "./card.css";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Confirmation, ConfirmationContext } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { useStore } from "../../../ui/store.ts";
import { plainWords } from "../../../ui/words.tsx";
import { board } from "../../inbox/board.ts";
import { DecisionBar } from "../decide/decision-bar.tsx";
import { held, heldFor } from "../decide/held.ts";
import { ReviewDialog } from "../decide/review-dialog.tsx";
import { settleConfirmation } from "../decide/send-settlement.ts";
import { useAnswer } from "../decide/use-answer.ts";
import { WithdrawButton } from "../decide/withdraw-button.tsx";
import { AnswerForms } from "../forms/answer-forms.tsx";
import { SettleForm } from "../forms/settle-form.tsx";
import { CardConsequences } from "./card-consequences.tsx";
import { Surroundings, useContextOf } from "./card-context.tsx";
import { CardFacts } from "./card-facts.tsx";
import { CardHead } from "./card-head.tsx";
import { CardOutcome } from "./card-outcome.tsx";
import { CardQuestion } from "./card-question.tsx";
import { shortSubject } from "./headline.ts";
import { SeenScope, useUnseen } from "./seen.tsx";
import { Timeline } from "./timeline.tsx";
import { useSighting } from "./use-sighting.ts";

export interface CardProps {
  readonly confirmation: Confirmation;
}

/** One confirmation: easy to understand, and not decided before everything was seen. */
export function Card({ confirmation }: CardProps): ReactNode {
  const { status, id, can } = confirmation;
  const { unseen, seen } = useUnseen();
  const isLocked = heldFor(useStore(held), id) !== undefined;
  const answer = useAnswer(confirmation);
  const context = useContextOf(confirmation);
  useSighting(confirmation);
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The outcome is at the top.
    if (status !== "requested") scroller.current?.scrollTo(0, 0);
  }, [status]);
  return (
    <article className="card" aria-label={`Confirmation of ${plainWords(confirmation.tool)}`}>
      <div className="card-scroll" ref={scroller}>
        <CardHead confirmation={confirmation} context={context} />
        <CardOutcome confirmation={confirmation} />
        <Settle confirmation={confirmation} owner={contextValue(context)?.owner} />
        <SeenScope seen={seen}>
          <CardQuestion confirmation={confirmation} />
        </SeenScope>
        {status === "requested" ? (
          <>
            <AnswerForms confirmation={confirmation} answer={answer} isLocked={isLocked} />
            <CardConsequences confirmation={confirmation} isAmended={answer.amended !== undefined} />
          </>
        ) : null}
        <Surroundings
          context={context}
          turnAction={<ApproveTurn turn={[confirmation, ...(contextValue(context)?.turn ?? [])]} />}
        />
        {context === undefined ? null : (
          // Below what was loaded: nothing moves when that comes, and the timeline grows at the end.
          <>
            <CardFacts confirmation={confirmation} asker={contextValue(context)?.asker} />
            {can.cancel && !can.decide ? <WithdrawButton confirmation={confirmation} /> : null}
            <Timeline confirmation={confirmation} />
          </>
        )}
      </div>
      {status === "requested" ? (
        <footer className="card-foot">
          <DecisionBar confirmation={confirmation} answer={answer} unseen={unseen} />
        </footer>
      ) : null}
    </article>
  );
}

/** The form for an outcome that nobody knows. */
function Settle({
  confirmation,
  owner,
}: CardProps & { readonly owner: ConfirmationContext["owner"] }): ReactNode {
  const { id, status, execution, layout } = confirmation;
  if (status !== "unknown") return null;
  return (
    <SettleForm
      id={id}
      what={shortSubject(confirmation)}
      isHold={layout?.hold === true}
      owner={owner}
      startedAt={execution?.startedAt}
      attempt={execution?.attempt}
      send={(settlement, key) => settleConfirmation(id, settlement, key)}
      onSettled={() => undefined}
    />
  );
}

function contextValue(context: ReturnType<typeof useContextOf>): ConfirmationContext | undefined {
  return context === undefined || "detail" in context ? undefined : context;
}

/** "Approve all" over what the model asked at once. */
function ApproveTurn({ turn }: { readonly turn: readonly Confirmation[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { confirmations } = useStore(board);
  const open = turn
    .map((one) => confirmations.get(one.id) ?? one)
    .filter(({ status, can }) => status === "requested" && can.decide);
  if (open.length < 2) return null;
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Review all {open.length}…
      </Button>
      {isOpen ? <ReviewDialog confirmations={open} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
