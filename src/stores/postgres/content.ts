import {
  COPIED_TABLES,
  type CopiedRows,
  type CopiedTable,
  type LedgerContent,
} from "../sql/copied-tables.ts";
import { fromParts } from "./commits/index.ts";
import { type LoneConnection, openDatabase, type Row, toLedgerError } from "./connection/index.ts";
import { assertUsable, readSchema } from "./schema/index.ts";

const SNAPSHOT =
  "begin isolation level repeatable read read only; set local statement_timeout = 0; " +
  "set local idle_in_transaction_session_timeout = 0";
const DIGEST_KEY = "select value from countersign.meta where name = 'digest-key'";
// A row may have megabytes.
const AT_ONCE = 100;

/** Reads a whole ledger as it is at one moment, while others go on. It is closed when `use` is done. */
export async function readPostgresContent<T>(
  url: string,
  use: (content: LedgerContent) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url);
  try {
    assertUsable(await readSchema(database), database.name);
    const connection = await database.loneConnection({ patient: true });
    connection.on("error", () => {});
    try {
      await connection.connect();
      await connection.query({ text: SNAPSHOT });
      const [[key] = []] = (await connection.query({ text: DIGEST_KEY, rowMode: "array" })).rows;
      return await use({ digestKey: Buffer.from(key as string, "hex"), parts: partsOf(connection) });
    } catch (error) {
      throw toLedgerError(error, database.name);
    } finally {
      await connection.end().catch(() => {});
    }
  } finally {
    await database.close();
  }
}

async function* partsOf(connection: LoneConnection): AsyncGenerator<CopiedRows> {
  for (const table of COPIED_TABLES) {
    await connection.query({ text: `declare copied no scroll cursor for ${selectAll(table)}` });
    for (;;) {
      const { rows } = await connection.query({ text: `fetch ${AT_ONCE} from copied`, rowMode: "array" });
      if (rows.length === 0) break;
      yield { table, rows: rows.map((row) => toCopied(table, row)) };
    }
    await connection.query({ text: "close copied" });
  }
}

function selectAll({ name, columns }: CopiedTable): string {
  const isItems = name === "items";
  const selected = columns.map((column) =>
    isItems && column === "value" ? "array_to_json(value)" : `"${column}"`,
  );
  return `select ${selected.join(", ")} from countersign.${name}`;
}

function toCopied({ name, columns }: CopiedTable, row: Row): CopiedRows["rows"][number] {
  return row.map((value, at) => {
    if (typeof value === "boolean") return Number(value);
    if (name === "items" && columns[at] === "value") return JSON.stringify(fromParts(value as string));
    return value;
  });
}
