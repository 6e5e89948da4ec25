import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../../../ui/button.tsx";
import { useDraft } from "./drafts.ts";

export interface RejectFormProps {
  /** What it is about: what was typed is kept with it. */
  readonly id: string;
  readonly off: string | undefined;
  /** What its button says. */
  readonly verb: string;
  readonly onReject: (reason: string) => void;
  readonly onCancel: () => void;
}

/** A "no", with a reason if one likes. Ctrl+Enter sends, Escape goes back. */
export function RejectForm({ id, off, verb, onReject, onCancel }: RejectFormProps): ReactNode {
  const [reason, setReason] = useDraft(id, "reason", "");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
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
          ref={field}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="decision-buttons">
        <Button look="reject" off={off} onClick={() => onReject(reason.trim())}>
          {verb}
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
