import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** Every table with its rows, each row as JSON. */
export type Dump = Readonly<Record<string, readonly string[]>>;

/** A ledger's file, and a way to reach into it behind the engine's back, as an insider could. */
export interface DatabaseFile extends Disposable {
  readonly url: string;
  /** Changes exactly one row, or throws: an attack that hits nothing proves nothing. */
  edit(sql: string, ...values: SQLInputValue[]): void;
  /** All tables but the journal. `sessions` without its moving parts if told so. */
  dump(options?: { readonly withoutVersions?: boolean }): Dump;
}

const MOVING_PARTS = ["version", "chain_n", "chain_hash", "updated_at"];

export function createDatabaseFile(): DatabaseFile {
  const directory = mkdtempSync(join(tmpdir(), "countersign-attack-"));
  const path = join(directory, "ledger.db");
  const inside = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path, { timeout: 5_000 });
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    url: `sqlite:${path}`,
    edit: (sql, ...values) =>
      inside((database) => {
        const { changes } = database.prepare(sql).run(...values);
        if (Number(changes) !== 1) throw new Error(`changed ${changes} rows, not one: ${sql}`);
      }),
    dump: ({ withoutVersions = false } = {}) =>
      inside((database) => {
        const tables = database.prepare("select name from sqlite_master where type = 'table' order by name");
        const names = tables.all().map(({ name }) => String(name));
        const rowsOf = (table: string): readonly string[] =>
          database
            .prepare(`select * from "${table}"`)
            .all()
            .map((row) => JSON.stringify(withoutVersions ? withoutMovingParts(table, row) : row))
            .toSorted();
        return Object.fromEntries(
          names.filter((name) => name !== "journal").map((name) => [name, rowsOf(name)]),
        );
      }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function withoutMovingParts(table: string, row: Record<string, unknown>): Record<string, unknown> {
  if (table !== "sessions") return row;
  return Object.fromEntries(Object.entries(row).filter(([column]) => !MOVING_PARTS.includes(column)));
}
