import { TransientMap } from "../common/index.ts";
import type { SessionDocument } from "./document.ts";

/** A document as this process last read or wrote it. */
export interface KnownDocument {
  readonly version: number;
  readonly document: SessionDocument;
}

/** What a row of a document takes, more or less; long values are not in it. */
const ROW_BYTES = 1_500;

/**
 * The documents that this process read or wrote last, as many as fit, oldest out first. A commit is made from the one that
 * was judged; a store refuses one that is behind.
 */
export class DocumentCache {
  readonly #known = new TransientMap<string, KnownDocument>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get(key: string): KnownDocument | undefined {
    return this.#known.get(key);
  }

  /** The document in this version, if that is what is known. */
  at(key: string, version: number): KnownDocument | undefined {
    const known = this.#known.get(key);
    return known?.version === version ? known : undefined;
  }

  set(key: string, known: KnownDocument): void {
    const before = this.#known.get(key);
    if (before !== undefined && before.version > known.version) return;
    this.drop(key);
    this.#known.set(key, known);
    this.#bytes += sizeOf(known);
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= this.#mostBytes) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#bytes -= sizeOf(known);
  }
}

function sizeOf({ document: { frames, calls, confirmations, steps } }: KnownDocument): number {
  return (1 + frames.length + calls.length + confirmations.length + steps.length) * ROW_BYTES;
}
