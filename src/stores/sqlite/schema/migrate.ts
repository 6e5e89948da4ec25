import { CountersignError } from "../../../protocol/index.ts";
import { FINGERPRINT, fingerprints, isSameBuild } from "../../sql/fingerprint.ts";
import { otherBuild } from "../../sql/other-build.ts";
import type { Database } from "../connection/database.ts";
import type { Driver } from "../connection/driver.ts";

/** One step forward of the schema. There is no way back. */
export interface Migration {
  /** Counts up from one, without gaps. */
  readonly version: number;
  /** On SQLite older code refuses every newer file; with this set, it must refuse on PostgreSQL too. */
  readonly breaking?: true;
  /** What it says to the database, inside the transaction that also records the version. */
  readonly texts: readonly string[];
  /** Puts in what differs from ledger to ledger. */
  fill?(driver: Pick<Driver, "prepare">): void;
}

/** "CSGN": marks the file as ours, so that another program's database is left alone. */
export const APPLICATION_ID = 0x4353474e;

/**
 * Brings the schema to the newest version, all steps in one transaction. Processes that open the same file at
 * once take turns: the first migrates, the others find it done. Throws `ledger-newer` for a file that a newer
 * version wrote and `ledger-unreachable` for one that is not a ledger, and changes neither.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  if ((await database.read(() => checkedVersion(database, migrations))) === newest) return;
  await database.write(true, (driver) => {
    // Again, now that nobody else can change it.
    const version = checkedVersion(database, migrations);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      for (const text of migration.texts) driver.exec(text);
      migration.fill?.(driver);
    }
    if (version < newest) {
      const keep = driver.prepare("insert or replace into meta (name, value) values (?, ?)");
      for (const [made, fingerprint] of fingerprints(migrations))
        if (made > version) keep.run(`${FINGERPRINT}${made}`, fingerprint);
      driver.exec(`pragma user_version = ${newest}; pragma application_id = ${APPLICATION_ID}`);
    }
  });
}

/** Throws `ledger-newer`, `ledger-mismatch` or `ledger-unreachable` if the file was made by other migrations. */
export function checkedVersion(database: Database, migrations: readonly Migration[]): number {
  const newest = migrations.at(-1)?.version ?? 0;
  const version = Number(database.get("pragma user_version")?.[0]);
  // In this order: another process may be making the ledger, and its mark comes with its tables.
  const isMade = database.get("select 1 from sqlite_schema limit 1") !== undefined;
  const owner = Number(database.get("pragma application_id")?.[0]);
  if (isMade && owner !== APPLICATION_ID) {
    throw new CountersignError(
      "ledger-unreachable",
      `The file "${database.path}" is a database of another program. Choose another path.`,
      { details: { path: database.path } },
    );
  }
  const state = {
    version,
    fingerprints: version === 0 ? new Map() : toFingerprints(database.all(FINGERPRINTS)),
  };
  if (!isSameBuild(state, migrations)) throw otherBuild(database.path, version);
  if (version > newest) {
    throw new CountersignError(
      "ledger-newer",
      `The ledger "${database.path}" has schema ${version}, but this version of Countersign supports only ${newest}. ` +
        "Upgrade Countersign, or open another ledger.",
      { details: { path: database.path, found: version, known: newest } },
    );
  }
  return version;
}

// `.` follows `-`.
export const FINGERPRINTS =
  "select name, value from meta where name > 'fingerprint-' and name < 'fingerprint.'";

export function toFingerprints(rows: readonly (readonly unknown[])[]): ReadonlyMap<number, string> {
  return new Map(
    rows.map(([name, value]) => [Number(String(name).slice(FINGERPRINT.length)), String(value)]),
  );
}
