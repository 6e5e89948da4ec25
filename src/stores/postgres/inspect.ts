import { Database } from "./database.ts";
import { loadDriver } from "./load-driver.ts";
import { NEWEST, readSchema } from "./migrate.ts";
import { parseUrl } from "./settings.ts";

/** Looks at a database without making, migrating or writing anything. Throws `ledger-unreachable` where it cannot. */
export async function inspectPostgresLedger(url: string): Promise<{
  readonly exists: boolean;
  readonly version: number;
  readonly newest: number;
}> {
  const database = new Database(await loadDriver(), parseUrl(url));
  try {
    const { version } = await readSchema(database);
    return { exists: version > 0, version, newest: NEWEST };
  } finally {
    await database.close();
  }
}
