import { type ReactNode, useLayoutEffect, useRef } from "react";

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Absent for a dialog that cannot be dismissed. */
  readonly onClose?: () => void;
}

/** A modal dialog: the browser's own, which keeps focus inside. What had it before has it again afterwards. */
export function Dialog({ title, children, onClose }: DialogProps): ReactNode {
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    const giveBack = rememberFocus();
    element?.showModal();
    return () => {
      element?.close();
      queueMicrotask(giveBack);
    };
  }, []);
  return (
    <dialog
      ref={place}
      className="dialog"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
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
