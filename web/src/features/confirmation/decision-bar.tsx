import { type ReactNode, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { go } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { useNow } from "../../ui/clock.ts";
import { HoldButton } from "../../ui/hold-button.tsx";
import { useKeys } from "../../ui/keys.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";
import { snooze, snoozed, wake } from "../inbox/snoozed.ts";
import { approveOff, decideOff } from "./approve-off.ts";
import { held, heldFor, hold } from "./held.ts";
import { HeldInPlace } from "./held-notice.tsx";
import type { Answer } from "./use-answer.ts";
import { useSettled } from "./use-settled.ts";

const HOUR_MS = 3_600_000;
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export interface DecisionBarProps {
  readonly confirmation: Confirmation;
  readonly answer: Answer;
  readonly unseen: number;
  /** One of several on the page: it has no keys, and no "not now". */
  readonly inChat?: boolean;
}

/** Approve, reject, or not now. A button that is off says why. */
export function DecisionBar({ confirmation, answer, unseen, inChat = false }: DecisionBarProps): ReactNode {
  const { id, version, status, digest, layout } = confirmation;
  const { connection } = useStore(board);
  const waiting = heldFor(useStore(held), id);
  const [isRejecting, setRejecting] = useState(false);
  const settled = useSettled([id, version, status, digest].join());
  const online = connection === "live";
  const readiness = { confirmation, unseen, settled, online, now: useNow(), fault: answer.fault };
  const off = approveOff(readiness);
  const rejectOff = decideOff(readiness);
  const approve = (): void => hold([{ id, ...answer.approval() }]);
  const listens = !inChat && waiting === undefined;
  useKeys({
    a: () => listens && off === undefined && layout?.hold !== true && approve(),
    // Opening the form decides nothing, so it need not wait for the card to settle.
    r: () => listens && confirmation.can.decide && setRejecting(true),
  });
  if (waiting !== undefined) return <HeldInPlace held={waiting} />;
  if (isRejecting) {
    return (
      <RejectForm
        off={rejectOff}
        onReject={(reason) => {
          setRejecting(false);
          hold([{ id, confirmed: false, version, ...(reason === "" ? {} : { reason }) }]);
        }}
        onCancel={() => setRejecting(false)}
      />
    );
  }
  return (
    <>
      <div className="decision-buttons">
        <ApproveButton
          off={off}
          isHold={layout?.hold === true}
          isAmended={answer.amended !== undefined}
          hasKey={!inChat}
          onApprove={approve}
        />
        <Button look="reject" off={rejectOff} onClick={() => setRejecting(true)}>
          Reject… {inChat ? null : <kbd aria-hidden="true">r</kbd>}
        </Button>
        {inChat ? null : <NotNow id={id} />}
      </div>
      <p className="decision-off" role="status">
        {off}
      </p>
    </>
  );
}

/** Puts it off, for this person in this browser; it is decided by nobody. */
function NotNow({ id }: { readonly id: string }): ReactNode {
  const until = useStore(snoozed)[id] ?? 0;
  if (until > Date.now()) {
    return (
      <Button look="quiet" onClick={() => wake(id)}>
        Put off until {TIME.format(until)}: bring it back
      </Button>
    );
  }
  return (
    <Button
      look="quiet"
      onClick={() => {
        snooze(id, Date.now() + HOUR_MS);
        go();
      }}
    >
      Not now
    </Button>
  );
}

interface ApproveButtonProps {
  readonly off: string | undefined;
  readonly isHold: boolean;
  readonly isAmended: boolean;
  readonly hasKey: boolean;
  readonly onApprove: () => void;
}

function ApproveButton({ off, isHold, isAmended, hasKey, onApprove }: ApproveButtonProps): ReactNode {
  const word = isAmended ? "Approve as changed" : "Approve";
  if (isHold) {
    return (
      <HoldButton off={off} onHeld={onApprove}>
        Hold to {word.toLowerCase()}
      </HoldButton>
    );
  }
  return (
    <Button look="approve" off={off} onClick={onApprove}>
      {word} {hasKey ? <kbd aria-hidden="true">a</kbd> : null}
    </Button>
  );
}

interface RejectFormProps {
  readonly off: string | undefined;
  readonly onReject: (reason: string) => void;
  readonly onCancel: () => void;
}

function RejectForm({ off, onReject, onCancel }: RejectFormProps): ReactNode {
  const [reason, setReason] = useState("");
  return (
    <form
      className="reject"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && off === undefined)
          onReject(reason.trim());
      }}
    >
      <label className="field">
        <span className="label">Reason (optional; the model and the requester read it)</span>
        <textarea
          className="input"
          dir="auto"
          rows={2}
          maxLength={4000}
          value={reason}
          ref={(element) => element?.focus()}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="decision-buttons">
        <Button look="reject" off={off} onClick={() => onReject(reason.trim())}>
          Reject
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Back
        </Button>
      </div>
      <p className="decision-off" role="status">
        {off}
      </p>
    </form>
  );
}
