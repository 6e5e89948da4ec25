import type { ReactNode } from "react";
import { Button } from "./ui/button.tsx";
import { Dialog } from "./ui/dialog.tsx";

const KEYS = [
  ["j / k", "next or previous request"],
  ["x", "select the opened request; Shift and click selects a range"],
  ["a", "approve the opened request, and go to the next"],
  ["r", "reject the opened request, with an optional reason"],
  ["h", "not now: hide it for a while"],
  ["u", "undo the last answer, while it is not sent"],
  ["/", "search"],
  ["Ctrl K", "go to a page, or run a command"],
  ["Esc", "back to the list"],
  ["?", "this help"],
] as const;

export function KeysDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keys" onClose={onClose} isLight>
      <dl className="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="small muted">
        Approving works half a second after a request has appeared or changed, and can be undone for four
        seconds.
      </p>
      <div className="row row-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
