import { DatabaseSync } from "node:sqlite";
import type { LedgerContent } from "../sql/copied-tables.ts";
import { openDatabase } from "./connection/database.ts";
import { makePrivate } from "./connection/private-files.ts";
import { toLedgerError } from "./connection/sqlite-errors.ts";
import { migrate } from "./schema/migrate.ts";
import { GAPS, MIGRATIONS } from "./schema/schema.ts";

const SET_KEY = "update meta set value = ? where name = 'digest-key'";
const SET_GAPS = `insert into meta (name, value) values ('${GAPS}', 1)`;

/** Copies a file as it is at one moment, while others go on. The copy must not exist. */
export function copySqliteFile(path: string, copy: string): void {
  makePrivate(copy);
  let driver: DatabaseSync | undefined;
  try {
    driver = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    driver.prepare("vacuum into ?").run(copy);
  } catch (error) {
    throw toLedgerError(error, path);
  } finally {
    driver?.close();
  }
}

/** Writes the content of another store's ledger into a new file. Positions in its log may have gaps. */
export async function writeSqliteFile(copy: string, { digestKey, parts }: LedgerContent): Promise<void> {
  const database = await openDatabase({ path: copy });
  try {
    await migrate(database, MIGRATIONS);
    await database.write(false, () => {
      database.run(SET_KEY, [digestKey]);
      database.run(SET_GAPS);
    });
    for await (const { table, rows } of parts) {
      const columns = table.columns.map((column) => `"${column}"`).join(", ");
      const places = table.columns.map(() => "?").join(", ");
      const insert = `insert into ${table.name} (${columns}) values (${places})`;
      await database.write(false, () => {
        for (const row of rows) database.run(insert, row);
      });
    }
  } finally {
    database.close();
  }
}
