import type { LoadedDocument } from "./store.ts";

type Known = Pick<LoadedDocument, "version" | "document">;

/** The documents that this process saw last, oldest out first. They are tried first; a store refuses one that is behind. */
export class DocumentCache {
  readonly #known = new Map<string, Known>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Known | undefined {
    return this.#known.get(key);
  }

  set(key: string, known: Known): void {
    const before = this.#known.get(key);
    if (before !== undefined && before.version > known.version) return;
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size <= this.#most) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  drop(key: string): void {
    this.#known.delete(key);
  }
}
