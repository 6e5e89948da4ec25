import { type ReactNode, useRef, useState } from "react";

const HOLD_MS = 1200;

export interface HoldButtonProps {
  readonly children: ReactNode;
  readonly onHeld: () => void;
  readonly off?: string | undefined;
}

/** A button that acts only when it was held down for a moment, by pointer or with Space or Enter. */
export function HoldButton({ children, onHeld, off }: HoldButtonProps): ReactNode {
  const timer = useRef<number | undefined>(undefined);
  const [isHeld, setHeld] = useState(false);
  const begin = (): void => {
    if (off !== undefined || timer.current !== undefined) return;
    setHeld(true);
    timer.current = window.setTimeout(() => {
      end();
      onHeld();
    }, HOLD_MS);
  };
  const end = (): void => {
    window.clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  return (
    <button
      type="button"
      className="button button-approve button-hold"
      aria-disabled={off !== undefined}
      title={off}
      data-held={isHeld}
      onPointerDown={begin}
      onPointerUp={end}
      onPointerLeave={end}
      onKeyDown={({ key, repeat }) => !repeat && (key === " " || key === "Enter") && begin()}
      onKeyUp={end}
      onBlur={end}
    >
      <span className="button-fill" aria-hidden="true" />
      <span className="button-label">{children}</span>
    </button>
  );
}
