import type { ReactNode } from "react";
import { go } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { snoozeTimes } from "./snooze-times.ts";
import { snooze } from "./snoozed.ts";
import { advance } from "./triage.ts";

const WHEN = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });

/** Puts a request off, for this person in this browser. It decides nothing. */
export function SnoozeDialog({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <Dialog title="Not now" onClose={onClose} isLight>
      <p className="small muted">
        It is hidden for you until then, in this browser only. It keeps waiting, and its deadline stays.
      </p>
      <div className="snooze">
        {snoozeTimes(new Date()).map(({ name, at }) => (
          <Button
            key={name}
            onClick={() => {
              onClose();
              if (!advance(id)) go();
              snooze(id, at.getTime());
            }}
          >
            <span>{name}</span> <span className="muted small">{WHEN.format(at)}</span>
          </Button>
        ))}
      </div>
      <div className="row row-end">
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
