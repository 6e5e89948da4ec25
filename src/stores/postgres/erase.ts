import { openDatabase, toLedgerError } from "./connection/index.ts";

/** Removes the schema with all that is in it. The database stays. */
export async function erasePostgresLedger(url: string): Promise<void> {
  const database = await openDatabase(url);
  try {
    const connection = await database.loneConnection({ patient: true });
    connection.on("error", () => {});
    try {
      await connection.connect();
      await connection.query({
        text: "begin; set local statement_timeout = 0; drop schema if exists countersign cascade; commit",
      });
    } catch (error) {
      throw toLedgerError(error, database.name);
    } finally {
      await connection.end().catch(() => {});
    }
  } finally {
    await database.close();
  }
}
