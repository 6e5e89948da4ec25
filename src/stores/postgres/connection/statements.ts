import { createHash } from "node:crypto";

/** The schema of a ledger whose URL names none. All statements are written with this name. */
export const USUAL_SCHEMA = "countersign";

const NAME_DIGITS = 40;
const IN_TEXTS = new RegExp(String.raw`\b${USUAL_SCHEMA}\b`, "g");

/** A statement as it is sent, and the name under which a connection prepares it. */
export interface Prepared {
  readonly text: string;
  readonly name: string;
}

/**
 * The statements of one ledger, with its schema in place of the usual one. Each names its schema, so that it does not matter
 * what a connection, or a pooler before it, says of search paths. Locks and channels are named after the schema too.
 */
export class Statements {
  readonly #schema: string;
  readonly #known: Map<string, Prepared> = new Map();

  constructor(schema: string) {
    this.#schema = schema;
  }

  /**
   * The same name for the same text, in every process: behind a pooler a connection may hold what another process
   * prepared, and a name that it gave to another text would run that. Parameters have no types but those of the text.
   */
  prepare(written: string): Prepared {
    const known = this.#known.get(written);
    if (known !== undefined) return known;
    const text = this.inSchema(written);
    const digits = createHash("sha256").update(text).digest("hex").slice(0, NAME_DIGITS);
    const prepared = { text, name: `${USUAL_SCHEMA}_${digits}` };
    this.#known.set(written, prepared);
    return prepared;
  }

  inSchema(written: string): string {
    return this.#schema === USUAL_SCHEMA ? written : written.replaceAll(IN_TEXTS, this.#schema);
  }
}
