import { type MouseEvent, type ReactNode, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";

export interface DialogProps {
  readonly title: string;
  readonly className?: string;
  readonly children: ReactNode;
  /** Absent for a dialog that cannot be dismissed. */
  readonly onClose?: () => void;
  /** A click beside it closes it, too, as on devices without an Escape key. Only where nothing typed can be lost. */
  readonly isLight?: boolean;
}

/**
 * A modal dialog: the browser's own, which keeps focus inside. What had it before has it again afterwards. It is no part
 * of what opened it: a list that is hidden when the screen is turned would hide it too, and shut off the whole page.
 */
export function Dialog({
  title,
  children,
  onClose,
  isLight = false,
  className = "",
}: DialogProps): ReactNode {
  const place = useRef<HTMLDialogElement>(null);
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const element = place.current;
    const giveBack = rememberFocus();
    element?.showModal();
    return () => {
      element?.close();
      queueMicrotask(giveBack);
    };
  }, []);
  return createPortal(
    <dialog
      ref={place}
      className={`dialog ${className}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = isBeside(event);
      }}
      onClick={(event) => {
        // Not a selection of text that ends beside it.
        if (isLight && isPressedBeside.current && isBeside(event)) onClose?.();
      }}
    >
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>,
    document.body,
  );
}

function isBeside({ currentTarget, clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

/** The browser gives the focus back while the page is still shut off, and then nothing can be typed there. */
function rememberFocus(): () => void {
  const before = document.activeElement;
  if (!(before instanceof HTMLElement)) return () => undefined;
  const place =
    before instanceof HTMLTextAreaElement
      ? ([before.selectionStart, before.selectionEnd] as const)
      : undefined;
  return () => {
    before.blur();
    before.focus({ preventScroll: true });
    if (before instanceof HTMLTextAreaElement && place !== undefined) before.setSelectionRange(...place);
  };
}
