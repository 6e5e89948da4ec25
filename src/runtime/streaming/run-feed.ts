import type { JsonValue, StoredEvent } from "../../protocol/index.ts";

/** A piece of a model's text, as it comes. */
export interface PartialText {
  readonly kind: "partial";
  readonly session: string;
  readonly invocation: string;
  /** How many events the session had when this passed. */
  readonly after: number;
  readonly event: StoredEvent;
}

/** How far a tool has come. */
export interface ToolProgress {
  readonly kind: "progress";
  readonly session: string;
  readonly invocation: string;
  readonly callId: string;
  readonly tool: string;
  readonly update: JsonValue;
}

/** What is told of a run but not stored. */
export type PassingEvent = PartialText | ToolProgress;

type Listener = (event: PassingEvent) => void;

/** Carries passing events to whoever watches the session in this process. Nobody watching loses nothing. */
export class RunFeed {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #pieces = new Map<string, number>();

  publish(event: PassingEvent): void {
    for (const listener of this.#listeners.get(event.session) ?? []) listener(event);
  }

  /** Does anybody watch this session who wants text in pieces? */
  wantsPieces(session: string): boolean {
    return this.#pieces.has(session);
  }

  subscribe(session: string, { pieces }: { readonly pieces: boolean }, listener: Listener): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    this.#listeners.set(session, listeners.add(listener));
    if (pieces) this.#pieces.set(session, (this.#pieces.get(session) ?? 0) + 1);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(session);
      const left = (this.#pieces.get(session) ?? 0) - (pieces ? 1 : 0);
      if (left > 0) this.#pieces.set(session, left);
      else this.#pieces.delete(session);
    };
  }
}
