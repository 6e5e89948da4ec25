import { type ReactNode, useState } from "react";
import type { Confirmation, Decision } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Words } from "../../../ui/words.tsx";
import { ArgumentsView } from "../arguments/arguments-view.tsx";
import { questionOf } from "../card/question.ts";
import { QuestionWords } from "../card/question-voice.tsx";
import { SeenScope, type Unseen, unseenSentence, useUnseen } from "../card/seen.tsx";
import { RejectForm } from "../forms/reject-form.tsx";
import { decide } from "./send-decisions.ts";
import { useSettled } from "./use-settled.ts";

export interface ReviewDialogProps {
  readonly confirmations: readonly Confirmation[];
  readonly onClose: () => void;
  /** An answer is on its way; without one, everything stays as it was. */
  readonly onAnswered?: () => void;
}

const JUST_OPENED = "This has just opened. Read it first.";

/** Several at once, each still reviewed and recorded separately. Those that need input are left out. */
export function ReviewDialog({ confirmations, onClose, onAnswered }: ReviewDialogProps): ReactNode {
  // What is reviewed must not change while it is; what was decided meanwhile the server refuses by itself.
  const [reviewed] = useState(confirmations);
  const { unseen, seen } = useUnseen();
  const settled = useSettled("open");
  const { unticked, tick } = useUnticked();
  const ticked = reviewed.filter(({ id }) => !unticked.has(id));
  const plain = ticked.filter((one) => ownCard(one) === undefined);
  const [isRejecting, setRejecting] = useState(false);
  const say = (some: readonly Confirmation[], said: Decision): void => {
    decide(some.map(({ id, version }) => ({ id, version, ...said })));
    onAnswered?.();
    onClose();
  };
  const off = noneOf(ticked) ?? reviewOff(unseen, plain.length, settled);
  const rejectWord = `Reject ${ticked.length === reviewed.length ? "all " : ""}${ticked.length}`;
  return (
    <Dialog title={`Review ${reviewed.length} requests`} onClose={onClose}>
      <SeenScope seen={seen}>
        <ol className="review" tabIndex={0}>
          {reviewed.map((one) => (
            <ReviewItem
              key={one.id}
              confirmation={one}
              isTicked={!unticked.has(one.id)}
              onTick={() => tick(one.id)}
            />
          ))}
        </ol>
      </SeenScope>
      {isRejecting ? (
        <RejectForm
          id={reviewed[0]?.id ?? ""}
          off={settled ? undefined : JUST_OPENED}
          verb={rejectWord}
          onReject={(reason) => say(ticked, { confirmed: false, ...(reason === "" ? {} : { reason }) })}
          onCancel={() => setRejecting(false)}
        />
      ) : (
        <>
          <p className="decision-off" role="status">
            {off}
          </p>
          <div className="row row-end">
            <Button look="quiet" onClick={onClose}>
              Back
            </Button>
            <Button look="reject" off={noneOf(ticked)} onClick={() => setRejecting(true)}>
              {rejectWord}…
            </Button>
            <Button look="approve" off={off} onClick={() => say(plain, { confirmed: true })}>
              {`Approve ${plain.length === reviewed.length ? "all " : ""}${plain.length}`}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Those that are left out of the review. */
function useUnticked(): { readonly unticked: ReadonlySet<string>; readonly tick: (id: string) => void } {
  const [unticked, setUnticked] = useState<ReadonlySet<string>>(new Set());
  const tick = (id: string): void => {
    const next = new Set(unticked);
    if (!next.delete(id)) next.add(id);
    setUnticked(next);
  };
  return { unticked, tick };
}

function noneOf(ticked: readonly Confirmation[]): string | undefined {
  return ticked.length === 0 ? "None is selected." : undefined;
}

interface ReviewItemProps {
  readonly confirmation: Confirmation;
  readonly isTicked: boolean;
  readonly onTick: () => void;
}

function ReviewItem({ confirmation, isTicked, onTick }: ReviewItemProps): ReactNode {
  const { tool, user, args } = confirmation;
  const apart = ownCard(confirmation);
  return (
    <li className={isTicked ? undefined : "review-out"}>
      <label className="review-head">
        <input type="checkbox" checked={isTicked} onChange={onTick} />
        <strong>
          <QuestionWords question={questionOf(confirmation)} />
        </strong>
      </label>
      {isTicked ? (
        <>
          <p className="small muted">
            <Words text={`${tool} · ${user}`} maxLength={200} />
          </p>
          <ArgumentsView args={args} layout={confirmation.layout} />
          {apart === undefined ? null : <p className="small muted">Left out: {apart}</p>}
        </>
      ) : null}
    </li>
  );
}

/** Why it cannot be approved among others. */
function ownCard({ schema, payload, layout, truncated }: Confirmation): string | undefined {
  if (truncated === true) return "it is too long to be shown here; approve it on its own card.";
  if (schema !== undefined || payload !== undefined) return "it wants an answer, on its own card.";
  return layout?.hold === true ? "it needs press-and-hold on its own card." : undefined;
}

function reviewOff(unseen: Unseen, count: number, settled: boolean): string | undefined {
  if (count === 0) return "Each of these has to be approved on its own card.";
  return unseenSentence(unseen) ?? (settled ? undefined : JUST_OPENED);
}
