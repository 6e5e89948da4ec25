import { type Clock, DocumentLedger, type Ledger, systemClock } from "../../engine/index.ts";
import { isAlwaysSynced } from "../durability.ts";
import { MEMORY_PATH, openDatabase } from "./connection/database.ts";
import { tighten } from "./connection/private-files.ts";
import { migrate } from "./schema/migrate.ts";
import { DIGEST_KEY, GAPS, MIGRATIONS } from "./schema/schema.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** Options of a SQLite ledger. */
export interface SqliteOptions {
  /** A file, created if missing (its directory is not), or `:memory:`. */
  readonly path: string;
  /**
   * `"full"`: every commit is on disk before it is acknowledged. Otherwise only decisions and claims are; a power
   * failure (not a process crash) may undo the last few others.
   */
  readonly durability?: "full";
  /** Judges leases and deadlines. */
  readonly clock?: Clock;
}

/**
 * Opens a ledger and migrates its schema. Throws `ledger-unreachable` if the file cannot be used and `ledger-newer`
 * where a newer version wrote it. Any number of processes may open one file.
 */
export async function openSqliteLedger(options: SqliteOptions): Promise<Ledger> {
  return new DocumentLedger(await openSqliteStore(options));
}

/** The store of such a ledger. */
export async function openSqliteStore({
  path,
  durability,
  clock = systemClock,
}: SqliteOptions): Promise<SqliteStore> {
  const database = await openDatabase({ path, alwaysSync: isAlwaysSynced(durability) });
  try {
    await migrate(database, MIGRATIONS);
    // Only now: before, it could be anybody's file.
    if (path !== MEMORY_PATH) tighten(path);
    const [digestKey, gaps] = await database.read(() => [
      database.get(DIGEST_KEY)?.[0] as Uint8Array,
      database.get("select 1 from meta where name = ?", [GAPS]),
    ]);
    return new SqliteStore(database, digestKey, clock, gaps === undefined);
  } catch (error) {
    database.close();
    throw error;
  }
}
