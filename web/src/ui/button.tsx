import type { MouseEvent, ReactNode } from "react";

export interface ButtonProps {
  readonly children: ReactNode;
  /** What it gives is not waited for; a promise has to mind its own failure. */
  readonly onClick: () => unknown;
  readonly look?: "plain" | "approve" | "reject" | "ink" | "quiet" | "link";
  readonly small?: boolean;
  /** Why it cannot be pressed now. It stays focusable, so that everyone can find out. */
  readonly off?: string | undefined;
  /** Where pressing it while it is off leads to what is missing. */
  readonly onOff?: (() => void) | undefined;
  readonly label?: string;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
}

/** A button. One that is off is not removed from the page: it says why. */
export function Button(props: ButtonProps): ReactNode {
  const { children, onClick, look = "plain", small = false, off, onOff, label, pressed, expanded } = props;
  return (
    <button
      type="button"
      className={`button button-${look}${small ? " button-small" : ""}`}
      aria-disabled={off !== undefined}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      title={off}
      onClick={(event) => press(event, off === undefined ? onClick : onOff)}
    >
      {children}
    </button>
  );
}

function press(event: MouseEvent, act: (() => unknown) | undefined): void {
  event.stopPropagation();
  act?.();
}
