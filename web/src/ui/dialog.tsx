import { type ReactNode, useEffect, useRef } from "react";

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Absent for a dialog that cannot be dismissed. */
  readonly onClose?: () => void;
}

/** A modal dialog: the browser's own, which keeps focus inside and gives it back. */
export function Dialog({ title, children, onClose }: DialogProps): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
    return () => element.current?.close();
  }, []);
  return (
    <dialog
      ref={element}
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
