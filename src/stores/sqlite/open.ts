import { type Clock, DocumentLedger, type Ledger, systemClock } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { MEMORY_PATH, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { tighten } from "./private-files.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

/** Where a SQLite ledger lives and how careful it is. */
export interface SqliteOptions {
  /** A file, made if absent (its directory is not), or `:memory:`. */
  readonly path: string;
  /**
   * `"full"`: every commit is on disk before it is acknowledged. Otherwise those that are acted upon at once
   * are, and a loss of power (not of the process) may take the last few others with it.
   */
  readonly durability?: "full";
  /** Judges leases and deadlines. */
  readonly clock?: Clock;
}

/**
 * Opens a ledger and brings its schema up to date. Throws `ledger-unreachable` where the file cannot be used
 * and `ledger-newer` where a newer version wrote it. Any number of processes may open one file.
 */
export async function openSqliteLedger(options: SqliteOptions): Promise<Ledger> {
  const { path, durability, clock = systemClock } = options;
  if (durability !== undefined && durability !== "full") {
    throw new CountersignError(
      "invalid-option",
      `Invalid durability ${JSON.stringify(durability)}. Omit it or use "full".`,
      { details: { option: "durability" } },
    );
  }
  if (path === MEMORY_PATH) {
    const { MemoryStore } = await import("../memory/index.ts");
    return new DocumentLedger(new MemoryStore(clock));
  }
  const database = await openDatabase({ path, alwaysSync: durability === "full" });
  try {
    await migrate(database, MIGRATIONS);
    // Only now: before, it could be anybody's file.
    if (path !== MEMORY_PATH) tighten(path);
    const row = await database.read(() => database.get("select value from meta where name = 'digest-key'"));
    return new SqliteLedger(database, row?.[0] as Uint8Array, clock);
  } catch (error) {
    database.close();
    throw error;
  }
}
