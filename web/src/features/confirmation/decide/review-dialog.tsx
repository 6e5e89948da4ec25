import { type ReactNode, useState } from "react";
import type { Confirmation } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Words } from "../../../ui/words.tsx";
import { ArgumentsView } from "../card/arguments-view.tsx";
import { SeenScope, type Unseen, unseenSentence, useUnseen } from "../card/seen.tsx";
import { RejectForm } from "../forms/reject-form.tsx";
import { decide } from "./send-decisions.ts";
import { useSettled } from "./use-settled.ts";

export interface ReviewDialogProps {
  readonly confirmations: readonly Confirmation[];
  readonly onClose: () => void;
}

/** Several at once, each still reviewed and recorded separately. Those that need input are left out. */
export function ReviewDialog({ confirmations, onClose }: ReviewDialogProps): ReactNode {
  // What is reviewed must not change while it is; what was decided meanwhile the server refuses by itself.
  const [reviewed] = useState(confirmations);
  const { unseen, seen } = useUnseen();
  const settled = useSettled("open");
  const plain = reviewed.filter((one) => ownCard(one) === undefined);
  const [isRejecting, setRejecting] = useState(false);
  const approve = (): void => {
    decide(plain.map(({ id, version }) => ({ id, version, confirmed: true })));
    onClose();
  };
  const reject = (reason: string): void => {
    const why = reason === "" ? {} : { reason };
    decide(reviewed.map(({ id, version }) => ({ id, version, confirmed: false, ...why })));
    onClose();
  };
  const off = reviewOff(unseen, plain.length, settled);
  return (
    <Dialog title={`Review ${reviewed.length}`} onClose={onClose}>
      <SeenScope seen={seen}>
        <ol className="review" tabIndex={0}>
          {reviewed.map((one) => (
            <ReviewItem key={one.id} confirmation={one} />
          ))}
        </ol>
      </SeenScope>
      {isRejecting ? (
        <RejectForm
          id="several"
          off={settled ? undefined : "Look first."}
          verb={`Reject all ${reviewed.length}`}
          onReject={reject}
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
            <Button look="reject" onClick={() => setRejecting(true)}>
              Reject all {reviewed.length}…
            </Button>
            <Button look="approve" off={off} onClick={approve}>
              {`Approve ${plain.length === reviewed.length ? "all " : ""}${plain.length}`}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function ReviewItem({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { tool, hint, args } = confirmation;
  const apart = ownCard(confirmation);
  return (
    <li>
      <h3>
        <Words text={tool} maxLength={120} />
      </h3>
      <p className="small muted">
        <Words text={hint} block maxLength={300} />
      </p>
      <ArgumentsView args={args} />
      {apart === undefined ? null : <p className="small muted">Left out: {apart}</p>}
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
  return unseenSentence(unseen) ?? (settled ? undefined : "Look first.");
}
