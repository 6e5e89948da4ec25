import { type ReactNode, useState } from "react";
import { ask, client } from "../../../api/client.ts";
import { useKeyFor } from "../../../api/new-key.ts";
import type { Confirmation } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { tell } from "../../../ui/messages.ts";
import { board } from "../../inbox/board.ts";

/** Withdraws a request: it will not run, and the model is told. */
export function WithdrawButton({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const key = useKeyFor(reason);
  const [isSending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    setSending(true);
    const mark = board.mark();
    const outcome = await ask(
      client.confirmations.cancel(confirmation.id, reason.trim() === "" ? {} : { reason: reason.trim() }, {
        idempotencyKey: key,
      }),
    );
    setSending(false);
    setOpen(false);
    if (outcome.ok) board.put(outcome.value, mark);
    else tell(`It was not withdrawn. ${outcome.problem.detail}`);
  };
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Withdraw…
      </Button>
      {isOpen ? (
        <Dialog title="Withdraw this request?" onClose={() => setOpen(false)}>
          <p>It will not run. The model is told that it was withdrawn.</p>
          <label className="field">
            <span className="label">Reason (optional)</span>
            <input
              className="input"
              dir="auto"
              maxLength={400}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          <div className="row row-end">
            <Button look="quiet" onClick={() => setOpen(false)}>
              Back
            </Button>
            <Button
              look="ink"
              off={isSending ? "Sending…" : undefined}
              onClick={() => send().catch(() => undefined)}
            >
              Withdraw
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
