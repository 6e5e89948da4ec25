import { isSameBuild } from "../sql/fingerprint.ts";
import { Database } from "./database.ts";
import { loadDriver } from "./load-driver.ts";
import { NEWEST, readSchema } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { parseUrl } from "./settings.ts";

/** Looks at a database without making, migrating or writing anything. Throws `ledger-unreachable` where it cannot. */
export async function inspectPostgresLedger(url: string): Promise<{
  readonly exists: boolean;
  readonly version: number;
  readonly newest: number;
  readonly isSameBuild: boolean;
}> {
  const database = new Database(await loadDriver(), parseUrl(url));
  try {
    const schema = await readSchema(database);
    const { version } = schema;
    return { exists: version > 0, version, newest: NEWEST, isSameBuild: isSameBuild(schema, MIGRATIONS) };
  } finally {
    await database.close();
  }
}
