import {
  documentText,
  readDocumentText,
  type SessionDocument,
  type SessionName,
  TransientMap,
} from "../../engine/index.ts";

/** How many characters of text are kept. */
const MOST_LENGTH = 2_000_000;

interface Known {
  readonly text: string;
  readonly document: SessionDocument;
}

/**
 * Documents that this process read or wrote last, as many as fit, oldest out first. A text that is still the same need not be read
 * again: a turn of many calls reads its document with each of them.
 */
export class KnownDocuments {
  /** By the session's key, oldest first. */
  readonly #known = new TransientMap<string, Known>();
  readonly #most: number;
  #length = 0;

  constructor(most: number = MOST_LENGTH) {
    this.#most = most;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The document that a text was made from. Nobody may change it. */
  read(key: string, name: SessionName, text: string): SessionDocument {
    const known = this.#known.get(key);
    if (known?.text === text && isOf(name, known.document)) return known.document;
    const document = readDocumentText(key, name, text);
    this.#keep(key, { text, document });
    return document;
  }

  /** The text of a document that is about to be stored. If it is not, another text will be read, and this one is not used. */
  write(key: string, document: SessionDocument): string {
    const text = documentText(key, document);
    this.#keep(key, { text, document });
    return text;
  }

  #keep(key: string, known: Known): void {
    this.#drop(key);
    this.#known.set(key, known);
    this.#length += known.text.length;
    for (const oldest of this.#known.keys()) {
      if (this.#length <= this.#most) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#length -= this.#known.get(key)?.text.length ?? 0;
    this.#known.delete(key);
  }
}

function isOf({ app, user, id }: SessionName, { head }: SessionDocument): boolean {
  return head.app === app && head.user === user && head.id === id;
}
