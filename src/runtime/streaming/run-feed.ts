import { TransientMap } from "../../engine/index.ts";
import type { JsonValue, StoredEvent } from "../../protocol/index.ts";

/** A piece of a model's text, as it comes. */
export interface PartialText {
  readonly kind: "partial";
  readonly session: string;
  readonly invocation: string;
  /** How many events the session had at that moment. */
  readonly after: number;
  readonly event: StoredEvent;
}

/** The progress of a tool. */
export interface ToolProgress {
  readonly kind: "progress";
  readonly session: string;
  readonly invocation: string;
  readonly callId: string;
  readonly tool: string;
  readonly update: JsonValue;
}

/** Events of a run that are not stored. */
export type PassingEvent = PartialText | ToolProgress;

type Listener = (event: PassingEvent) => void;

/** Sends transient events to the watchers of a session in this process. */
export class RunFeed {
  readonly #listeners = new TransientMap<string, Set<Listener>>();
  readonly #pieces = new TransientMap<string, number>();

  publish(event: PassingEvent): void {
    for (const listener of this.#listeners.get(event.session) ?? []) listener(event);
  }

  /** Does any watcher of this session want text in pieces? */
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
