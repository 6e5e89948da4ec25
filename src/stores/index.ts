/**
 * Ledgers by URL: in memory, SQLite or PostgreSQL. Decided here: which URL names which store, and what every store offers beside
 * the ledger (migrate, inspect, erase, copy). A store's code is loaded only if its URL is used.
 */

import { type Clock, DocumentLedger, type Ledger, systemClock } from "../engine/index.ts";
import { CountersignError, type JsonObject } from "../protocol/index.ts";
import { isAlwaysSynced } from "./durability.ts";
import type { Risk, StandbyState } from "./postgres/index.ts";
import type { MigrationPlan } from "./sql/migration-plan.ts";
import type { InspectOptions, LedgerState } from "./sqlite/index.ts";

export type { MigrationPlan } from "./sql/migration-plan.ts";
export { otherBuild } from "./sql/other-build.ts";
export type { InspectOptions, LedgerState } from "./sqlite/index.ts";

/** Options of every store. */
export interface LedgerOptions {
  /** Judges leases and deadlines where the store has no clock of its own. */
  readonly clock?: Clock;
  /** `"full"`: every commit is on disk before it is acknowledged, not only decisions and claims. */
  readonly durability?: "full";
  /**
   * Creates or migrates a PostgreSQL schema first; without it, an outdated schema is refused. A SQLite ledger is always
   * migrated.
   */
  readonly migrate?: boolean;
  /**
   * A URL of the same PostgreSQL database without a pooler in transaction mode: one connection listens there for what
   * other processes change.
   */
  readonly listenUrl?: string;
  /** A URL of the same PostgreSQL database on standbys of its server, where lists may be read. */
  readonly readUrl?: string;
}

const DEFAULT_URL = "sqlite:countersign.db";
const DEFAULT_SQLITE_PATH = "countersign.db";

/**
 * Opens the ledger that a URL names: `memory:`, `sqlite:path`, `sqlite:` for `countersign.db` in the working directory,
 * or `postgres://…`, where time is the database's and no clock is asked. The store is loaded only now. Throws
 * `invalid-option` for a URL that names none, and `missing-package` on a Node.js that is too old.
 */
export async function createLedger(
  location: string | (LedgerOptions & { readonly url?: string }) = DEFAULT_URL,
  options: LedgerOptions = {},
): Promise<Ledger> {
  refuseOldNode(process.versions.node);
  const { url = DEFAULT_URL, ...given } =
    typeof location === "string" ? { url: location, ...options } : { ...options, ...location };
  if (isPostgres(url)) {
    const { openPostgresLedger } = await import("./postgres/index.ts");
    const { clock: _clock, ...rest } = given;
    return openPostgresLedger({ ...rest, url });
  }
  if (url.startsWith("memory:")) {
    // There is no disk, and so nothing to choose; what is no choice is refused all the same.
    isAlwaysSynced(given.durability);
    const { MemoryStore } = await import("./memory/index.ts");
    return new DocumentLedger(new MemoryStore(given.clock ?? systemClock));
  }
  const path = sqlitePath(url);
  const { openSqliteLedger } = await import("./sqlite/index.ts");
  return openSqliteLedger({ ...given, path });
}

/** Looks at a ledger without making, migrating or writing it. */
export async function inspectLedger(url: string, options: InspectOptions = {}): Promise<LedgerState> {
  if (isPostgres(url)) {
    const { inspectPostgresLedger } = await import("./postgres/index.ts");
    return inspectPostgresLedger(url);
  }
  const path = sqlitePath(url);
  const { inspectSqliteLedger } = await import("./sqlite/index.ts");
  return inspectSqliteLedger(path, options);
}

/** What may take acknowledged commits from a ledger on a server, or make them late; of a file there is nothing to say. */
export async function listRisks(url: string, listenUrl?: string): Promise<readonly Risk[]> {
  if (!isPostgres(url)) return [];
  const { listPostgresRisks } = await import("./postgres/index.ts");
  return listPostgresRisks(url, listenUrl);
}

/** Looks at the servers that lists of a PostgreSQL ledger are to be read from. */
export async function listStandbys(url: string, readUrl?: string): Promise<readonly StandbyState[]> {
  if (!isPostgres(url) || readUrl === undefined) return [];
  const { listPostgresStandbys } = await import("./postgres/index.ts");
  return listPostgresStandbys(url, readUrl);
}

/** Makes a ledger's schema, or brings it up to date. Any number of processes may do this at once. */
export async function migrateLedger(url: string): Promise<void> {
  if (!isPostgres(url)) return (await createLedger(url)).close();
  const { migratePostgres } = await import("./postgres/index.ts");
  await migratePostgres(url);
}

/** What {@link migrateLedger} would do: statements, locks and an estimate. Changes nothing. */
export async function planLedgerMigration(url: string): Promise<MigrationPlan> {
  if (isPostgres(url)) {
    const { planPostgresMigration } = await import("./postgres/index.ts");
    return planPostgresMigration(url);
  }
  const { planSqliteMigration } = await import("./sqlite/index.ts");
  return planSqliteMigration(sqlitePath(url));
}

/**
 * Copies a ledger into a new SQLite file, complete and as it is at one moment. Nothing starts from the copy: it is
 * suspended, and stores why.
 */
export async function exportLedger(url: string, file: string, why: JsonObject): Promise<void> {
  const { copyLedger } = await import("./copy-ledger.ts");
  await copyLedger(isPostgres(url) ? { postgres: url } : { sqlite: sqlitePath(url) }, file, why);
}

/** Removes a ledger permanently: a file, or the schema of a PostgreSQL database. Does nothing if there is none. */
export async function eraseLedger(url: string): Promise<void> {
  if (isPostgres(url)) {
    const { erasePostgresLedger } = await import("./postgres/index.ts");
    return erasePostgresLedger(url);
  }
  const { eraseSqliteLedger } = await import("./sqlite/index.ts");
  eraseSqliteLedger(sqlitePath(url));
}

// An older one fails later, with errors that do not name the cause: it lacks node:sqlite.
function refuseOldNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return;
  throw new CountersignError(
    "missing-package",
    `Countersign needs Node.js 22.18 or newer; this is v${version}. Install a newer one from https://nodejs.org.`,
    { details: { package: "node" } },
  );
}

function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

function sqlitePath(url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:/.exec(url)?.[0];
  switch (scheme) {
    case "memory:":
      return ":memory:";
    case "sqlite:":
      // `sqlite:///absolute` and `sqlite://relative` are common spellings of `sqlite:/absolute` and `sqlite:relative`.
      return url.slice(scheme.length).replace(/^\/\//, "") || DEFAULT_SQLITE_PATH;
    case undefined:
      throw unknownLedger(`the ledger ${JSON.stringify(url)} has no scheme`, url);
    default:
      throw unknownLedger(`there is no store "${scheme}"`, scheme);
  }
}

// Only the scheme of a URL with a host is repeated: the rest may contain a password.
function unknownLedger(problem: string, given: string): CountersignError {
  return new CountersignError(
    "invalid-option",
    `Cannot open a ledger: ${problem}. Use "sqlite:path/to/file.db", "postgres://user:password@host/database" or "memory:".`,
    { details: { option: "ledger", given } },
  );
}
