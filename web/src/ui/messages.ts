import { Store } from "./store.ts";

/** Something that happened away from where the person looks. */
export interface Message {
  readonly id: number;
  readonly text: string;
  /** It went as the person wanted. */
  readonly isDone: boolean;
}

const SHOWN_MS = 12_000;
const MOST = 3;
let nextId = 1;

/** Shown in the strip at the bottom of the page. */
export const messages: Store<readonly Message[]> = new Store<readonly Message[]>([]);

/** Tells the person something that happened away from where they look. */
export function tell(text: string): void {
  show(text, false);
}

/** Tells the person that something they wanted is done. */
export function tellDone(text: string): void {
  show(text, true);
}

function show(text: string, isDone: boolean): void {
  const id = nextId++;
  messages.set([...messages.value.slice(1 - MOST), { id, text, isDone }]);
  window.setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  messages.set(messages.value.filter((message) => message.id !== id));
}
