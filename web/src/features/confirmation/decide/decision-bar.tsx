import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Confirmation, Decision } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { useNow } from "../../../ui/clock.ts";
import { HoldButton } from "../../../ui/hold-button.tsx";
import { useKeys } from "../../../ui/keys.ts";
import { useStore } from "../../../ui/store.ts";
import { GrantDialog } from "../../grants/grant-dialog.tsx";
import { board } from "../../inbox/board.ts";
import { SnoozeDialog } from "../../inbox/snooze-dialog.tsx";
import { snoozed, wake } from "../../inbox/snoozed.ts";
import { advance } from "../../inbox/triage.ts";
import type { Unseen } from "../card/seen.tsx";
import { RejectForm } from "../forms/reject-form.tsx";
import { approveOff, decideOff } from "./approve-off.ts";
import { type Held, held, heldFor } from "./held.ts";
import { decide } from "./send-decisions.ts";
import type { Answer } from "./use-answer.ts";
import { useSettled } from "./use-settled.ts";

const TIME = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });

export interface DecisionBarProps {
  readonly confirmation: Confirmation;
  readonly answer: Answer;
  readonly unseen: Unseen;
  /** One of several on the page: it has no keys, and no "not now". */
  readonly inChat?: boolean;
}

/** Approve, reject, or not now. A button that is off says why. */
export function DecisionBar({ confirmation, answer, unseen, inChat = false }: DecisionBarProps): ReactNode {
  const { id, version, status, digest, layout } = confirmation;
  const { connection, me } = useStore(board);
  const waiting = heldFor(useStore(held), id);
  const [isRejecting, setRejecting] = useState(false);
  const settled = useSettled([id, version, status, digest].join());
  const by = { me: me?.principal.id, now: useNow(), online: connection === "live" };
  const readiness = { confirmation, unseen, settled, fault: answer.fault, ...by };
  const off = approveOff(readiness);
  const rejectOff = decideOff(readiness);
  const say = (decision: Decision): void => {
    decide([{ id, ...decision }]);
    if (!inChat) advance(id);
  };
  const approve = (): void => say(answer.approval());
  // Where only the form keeps it from being sent, what is wrong is marked in it.
  const showFaults = off !== undefined && off === answer.fault ? () => markFaults(answer) : undefined;
  const verbs = verbsOf(answer);
  const listens = !inChat && waiting === undefined;
  useKeys({
    a: () => listens && layout?.hold !== true && (off === undefined ? approve() : showFaults?.()),
    // Opening the form decides nothing, so it need not wait for the card to settle.
    r: () => listens && confirmation.can.decide && setRejecting(true),
  });
  if (waiting !== undefined) return <HeldHere held={waiting} />;
  if (isRejecting) {
    return (
      <RejectForm
        id={id}
        off={rejectOff}
        verb={verbs.no}
        onReject={(reason) => {
          setRejecting(false);
          say({ confirmed: false, version, ...(reason === "" ? {} : { reason }) });
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
          onOff={showFaults}
          isHold={layout?.hold === true}
          word={verbs.yes}
          hasKey={!inChat}
          onApprove={approve}
        />
        <GrantButton confirmation={confirmation} answer={answer} off={off} say={say} />
        <Button look="reject" off={rejectOff} onClick={() => setRejecting(true)}>
          {verbs.no}… {inChat ? null : <kbd aria-hidden="true">r</kbd>}
        </Button>
        {inChat ? null : <NotNow id={id} />}
      </div>
      <p className="decision-off" role="status">
        {off}
      </p>
    </>
  );
}

/** Approves, and lets further calls run without asking; where the rules allow that. */
function GrantButton({
  confirmation,
  answer,
  off,
  say,
}: {
  readonly confirmation: Confirmation;
  readonly answer: Answer;
  readonly off: string | undefined;
  readonly say: (decision: Decision) => void;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { grants } = confirmation;
  // What is granted is what was asked, so nothing can be granted with other arguments.
  if (grants === undefined || answer.amended !== undefined) return null;
  return (
    <>
      <Button look="quiet" off={off} onClick={() => setOpen(true)}>
        Approve and grant…
      </Button>
      {isOpen ? (
        <GrantDialog
          confirmation={confirmation}
          most={grants}
          off={off}
          onGrant={(grant) => say({ ...answer.approval(), grant })}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

/** An answer that is about to be sent. The strip below has the button that undoes it. */
function HeldHere({ held: { verb, about } }: { readonly held: Held }): ReactNode {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The pressed button is gone, so the keyboard focus moves here.
    if (document.activeElement === document.body) place.current?.focus();
  }, []);
  return (
    <p className="held-here" ref={place} tabIndex={-1}>
      {verb} it{about.length > 1 ? `, together with ${about.length - 1} more` : ""}. Until it is sent,{" "}
      <kbd>u</kbd> undoes it.
    </p>
  );
}

/** Marks what is wrong in the form, and goes to the first of it. */
function markFaults(answer: Answer): void {
  answer.check();
  window.setTimeout(() => document.querySelector<HTMLElement>(".form [aria-invalid=true]")?.focus(), 0);
}

/** Hides it for this person in this browser; decides nothing. */
function NotNow({ id }: { readonly id: string }): ReactNode {
  const until = useStore(snoozed)[id] ?? 0;
  const [isOpen, setOpen] = useState(false);
  useKeys({ h: () => setOpen(true) });
  if (until > Date.now()) {
    return (
      <Button look="quiet" onClick={() => wake(id)}>
        Snoozed until {TIME.format(until)}: show it again
      </Button>
    );
  }
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        Not now… <kbd aria-hidden="true">h</kbd>
      </Button>
      {isOpen ? <SnoozeDialog id={id} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

interface ApproveButtonProps {
  readonly off: string | undefined;
  readonly onOff: (() => void) | undefined;
  readonly isHold: boolean;
  readonly word: string;
  readonly hasKey: boolean;
  readonly onApprove: () => void;
}

/** What the two answers are called. */
function verbsOf({ questions, amended }: Answer): { readonly yes: string; readonly no: string } {
  if (questions !== undefined)
    return { yes: questions.length === 1 ? "Send the answer" : "Send the answers", no: "Decline" };
  return { yes: amended === undefined ? "Approve" : "Approve as changed", no: "Reject" };
}

function ApproveButton({ off, onOff, isHold, word, hasKey, onApprove }: ApproveButtonProps): ReactNode {
  if (isHold) {
    return (
      <HoldButton off={off} onHeld={onApprove}>
        Hold to {word.toLowerCase()}
      </HoldButton>
    );
  }
  return (
    <Button look="approve" off={off} onOff={onOff} onClick={onApprove}>
      {word} {hasKey ? <kbd aria-hidden="true">a</kbd> : null}
    </Button>
  );
}
