import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Store, useStore } from "./store.ts";
import { Words } from "./words.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const toasts: Store<readonly Toast[]> = new Store<readonly Toast[]>([]);
const SHOWN_MS = 12_000;
let nextId = 1;

/** Tells the person something that happened away from where they look. */
export function tell(text: string): void {
  const id = nextId++;
  toasts.set([...toasts.value.slice(-2), { id, text }]);
  window.setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.set(toasts.value.filter((toast) => toast.id !== id));
}

export function Toasts(): ReactNode {
  const shown = useStore(toasts);
  return (
    <ul className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <li className="toast" key={id}>
          <Words text={text} />
          <Button look="quiet" small onClick={() => dismiss(id)}>
            Dismiss
          </Button>
        </li>
      ))}
    </ul>
  );
}
