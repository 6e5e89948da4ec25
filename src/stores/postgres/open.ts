import { DocumentLedger, type Ledger, type LedgerStats } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { MigrationPlan } from "../sql/migration-plan.ts";
import { openDatabase, READ_ONLY, toLedgerError } from "./connection/index.ts";
import { PostgresStore } from "./postgres-store.ts";
import { assertUsable, migrate, NEWEST, planMigration, readSchema } from "./schema/index.ts";
import { openLedgerStandbys } from "./standby/index.ts";

/** Options of a PostgreSQL ledger. */
export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database`, with `?schema=`, `?pool=`, `?prepare=` and what `pg` knows; several
   * hosts as `host:port,host:port`, of which the one that accepts writes is used.
   */
  readonly url: string;
  /**
   * A URL of the same database that does not go through a pooler, or through one in session mode. One connection listens
   * there for what other processes change. Without it, a pooler in transaction mode delays that by up to two seconds.
   */
  readonly listenUrl?: string;
  /**
   * A URL of the same database on standbys of its server, several hosts as `host:port,host:port`, each of them one server.
   * Lists are read there, as `Ledger.standbys` says; everything else from the primary.
   */
  readonly readUrl?: string;
  /** `"full"`: every commit is on disk before it is acknowledged, not only decisions and claims. */
  readonly durability?: "full";
  /** Creates or migrates the schema first; without it, an outdated schema is refused. */
  readonly migrate?: boolean;
}

const OPENING =
  "select value, countersign.now_ms(), current_setting('transaction_isolation'), pg_is_in_recovery() " +
  "from countersign.meta where name = 'digest-key'";

/**
 * Opens a ledger. Throws `ledger-unreachable` if the server or the database cannot be used, `ledger-older` if the
 * schema is behind and may not be migrated, `ledger-newer` where a newer version made it unusable for this one, and
 * `missing-package` where `pg` is not installed. Any number of processes may open one ledger, and one database may have
 * many ledgers, each in a schema of its own.
 */
export async function openPostgresLedger(
  options: PostgresOptions,
): Promise<Ledger & { stats(): LedgerStats }> {
  const store = await openPostgresStore(options);
  const { standbys } = store;
  return Object.assign(new DocumentLedger(store), {
    stats: () => store.stats,
    ...(standbys === undefined ? {} : { standbys }),
  });
}

/** What such a ledger needs. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, durability } = options;
  if (durability !== undefined && durability !== "full") {
    throw new CountersignError(
      "invalid-option",
      `Invalid durability ${JSON.stringify(durability)}. Omit it or use "full".`,
      { details: { option: "durability" } },
    );
  }
  const database = await openDatabase(url);
  try {
    let schema = await readSchema(database);
    if (options.migrate === true && schema.version < NEWEST) {
      await migrate(database);
      schema = await readSchema(database);
    }
    assertUsable(schema, database.name);
    const [key, now, isolation, isStandby] = (await database.get(OPENING)) ?? [];
    assertReadCommitted(isolation as string, database.name);
    if (isStandby === true) throw standby(database.name);
    const digestKey = new Uint8Array(Buffer.from(key as string, "hex"));
    const listening =
      options.listenUrl === undefined
        ? {}
        : { listening: await openDatabase(options.listenUrl, { schema: database.schema }) };
    const standbys =
      options.readUrl === undefined
        ? {}
        : { standbys: await openLedgerStandbys(options.readUrl, { database, digestKey }) };
    return new PostgresStore(database, {
      digestKey,
      now: now as number,
      alwaysSync: durability === "full",
      ...listening,
      ...standbys,
    });
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The result of a migration, or of a dry run. */
export interface Migrated {
  /** The schema version before; 0 if there was none. */
  readonly from: number;
  readonly to: number;
}

/** Creates or migrates the schema; with `dryRun` it only returns the versions. */
export async function migratePostgres(
  url: string,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<Migrated> {
  const database = await openDatabase(url);
  try {
    const { version } = dryRun ? await readSchema(database) : await migrate(database);
    return { from: version, to: Math.max(version, NEWEST) };
  } finally {
    await database.close();
  }
}

/** What {@link migratePostgres} would do: statements, locks and an estimate. Changes nothing. */
export async function planPostgresMigration(url: string): Promise<MigrationPlan> {
  const database = await openDatabase(url);
  try {
    return await planMigration(database);
  } finally {
    await database.close();
  }
}

function standby(name: string): unknown {
  return toLedgerError(Object.assign(new Error("The server is in recovery."), { code: READ_ONLY }), name);
}

// The connection asks for it; something in between may have kept that from the server.
function assertReadCommitted(isolation: string, name: string): void {
  if (isolation === "read committed") return;
  throw new CountersignError(
    "invalid-option",
    `Transactions on the ledger "${name}" are "${isolation}"; set default_transaction_isolation to "read committed" for its role.`,
    { details: { option: "ledger", found: isolation } },
  );
}
