import type { Database } from "../connection/index.ts";
import { assertUsable, readSchema } from "./migrate.ts";

const LOOK_EVERY_MS = 10_000;

/**
 * Notices that somebody else migrated the database to a schema that this build must not use. From then on every statement
 * of this handle is refused with what is wrong: claims stop, and the process is not ready.
 */
export class SchemaWatch {
  readonly #database: Database;
  #lookedAt = performance.now();

  constructor(database: Database) {
    this.#database = database;
    // A table, a column or a function that was there is gone.
    database.onUndefined(() => this.#look());
  }

  /** Looks, unless it did a moment ago. Throws as opening does. */
  async lookIfDue(): Promise<void> {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) await this.#look();
  }

  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    const schema = await readSchema(this.#database, { patient: true });
    try {
      assertUsable(schema, this.#database.name);
    } catch (error) {
      if (error instanceof Error) this.#database.refuse(error);
      throw error;
    }
  }
}
