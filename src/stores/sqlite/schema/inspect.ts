import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CountersignError } from "../../../protocol/index.ts";
import { isSameBuild } from "../../sql/fingerprint.ts";
import { MEMORY_PATH } from "../connection/database.ts";
import { openToOthers } from "../connection/private-files.ts";
import { toLedgerError } from "../connection/sqlite-errors.ts";
import { APPLICATION_ID, FINGERPRINTS, toFingerprints } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

/** What a ledger says of itself to somebody who only looks. */
export interface LedgerState {
  /** False: opening it will make it. */
  readonly exists: boolean;
  /** The schema it has; 0 where it does not exist. */
  readonly version: number;
  /** The schema that this version of Countersign makes of it. */
  readonly newest: number;
  /** False where its schema has a number that this build knows, and another build made it. */
  readonly isSameBuild: boolean;
  /** Its files that others than their user may read or write, with their modes, such as `644`; absent for a server's. */
  readonly exposed?: readonly { readonly file: string; readonly mode: string }[];
  /** What a quick check of the file found; absent where none was asked for. */
  readonly damage?: readonly string[];
}

/** How closely to look. */
export interface InspectOptions {
  /** Reads the whole file, and says what is damaged. */
  readonly check?: boolean;
}

/** Looks at a file without making, migrating or writing it. Throws `ledger-unreachable` where it is no ledger. */
export function inspectSqliteLedger(path: string, { check = false }: InspectOptions = {}): LedgerState {
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (path === MEMORY_PATH || isAbsent(path)) return { exists: false, version: 0, newest, isSameBuild: true };
  let driver: DatabaseSync | undefined;
  try {
    driver = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
    const version = Number(readValue(driver, "pragma user_version"));
    if (Number(readValue(driver, "pragma application_id")) !== APPLICATION_ID) throw noLedger(path);
    const exposed = openToOthers(path);
    const isOurs = isSameBuild({ version, fingerprints: fingerprintsIn(driver) }, MIGRATIONS);
    return {
      exists: true,
      version,
      newest,
      isSameBuild: isOurs,
      exposed,
      ...(check ? { damage: damageOf(driver) } : {}),
    };
  } catch (error) {
    throw toLedgerError(error, path);
  } finally {
    driver?.close();
  }
}

// A process that is about to make one, or that died over it, leaves an empty file.
function isAbsent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function fingerprintsIn(driver: DatabaseSync): ReadonlyMap<number, string> {
  const rows = driver.prepare(FINGERPRINTS).all();
  return toFingerprints(rows.map(({ name, value }) => [name, value]));
}

function damageOf(driver: DatabaseSync): readonly string[] {
  const rows = driver.prepare("pragma quick_check(10)").all();
  return rows.map((row) => String(Object.values(row)[0])).filter((found) => found !== "ok");
}

function readValue(driver: DatabaseSync, sql: string): unknown {
  return Object.values(driver.prepare(sql).get() ?? {})[0];
}

function noLedger(path: string): CountersignError {
  return new CountersignError(
    "ledger-unreachable",
    `The file "${path}" is not a Countersign ledger. Choose another path.`,
    { details: { path } },
  );
}
