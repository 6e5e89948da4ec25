import { openDatabase } from "./connection/index.ts";
import { isMadeByThisBuild, NEWEST, readSchema } from "./schema/index.ts";

/** Inspects a database without changing it. Throws `ledger-unreachable` if it cannot. */
export async function inspectPostgresLedger(url: string): Promise<{
  readonly exists: boolean;
  readonly version: number;
  readonly newest: number;
  readonly isSameBuild: boolean;
}> {
  const database = await openDatabase(url);
  try {
    const schema = await readSchema(database);
    const { version } = schema;
    return { exists: version > 0, version, newest: NEWEST, isSameBuild: isMadeByThisBuild(schema) };
  } finally {
    await database.close();
  }
}
