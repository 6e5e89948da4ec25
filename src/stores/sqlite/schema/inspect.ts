import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CountersignError } from "../../../protocol/index.ts";
import { isSameBuild } from "../../sql/fingerprint.ts";
import { MEMORY_PATH } from "../connection/database.ts";
import { openToOthers } from "../connection/private-files.ts";
import { toLedgerError } from "../connection/sqlite-errors.ts";
import { APPLICATION_ID, FINGERPRINTS, toFingerprints } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

/** The state of a ledger, as an inspection finds it. */
export interface LedgerState {
  /** False: opening it creates it. */
  readonly exists: boolean;
  /** Its schema version; 0 if it does not exist. */
  readonly version: number;
  /** The newest schema version that this Countersign knows. */
  readonly newest: number;
  /** False if a different build created its schema, under a version that this build knows. */
  readonly isSameBuild: boolean;
  /** Its files that other users can read or write, with their modes, such as `644`; absent for a database server. */
  readonly exposed?: readonly { readonly file: string; readonly mode: string }[];
  /** What a quick check of the file found; absent if it was not requested. */
  readonly damage?: readonly string[];
}

/** Options of an inspection. */
export interface InspectOptions {
  /** Reads the whole file, and says what is damaged. */
  readonly check?: boolean;
}

/** Inspects a file without changing it. Throws `ledger-unreachable` if it is not a ledger. */
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
