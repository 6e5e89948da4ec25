import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../../../protocol/index.ts";
import { FINGERPRINT, fingerprints, isSameBuild } from "../../sql/fingerprint.ts";
import { otherBuild } from "../../sql/other-build.ts";
import { type Database, isLockTimeout, type LoneConnection, toLedgerError } from "../connection/index.ts";
import { MIGRATIONS } from "./migrations.ts";

/** One step forward of the schema. There is no way back. */
export interface Migration {
  /** Counts up from one, without gaps. */
  readonly version: number;
  /** Code that does not know this step must not use what it leaves behind. */
  readonly breaking?: true;
  /** What it says to the server, inside the transaction that also records the version. */
  readonly texts: readonly string[];
  /** Puts in what differs from ledger to ledger. */
  fill?(client: Pick<LoneConnection, "query">): Promise<void>;
}

/** What a database says of its schema. */
export interface SchemaState {
  /** 0 where there is none. */
  readonly version: number;
  /** The newest version that code must know to use it. */
  readonly breaking: number;
  /** By the version that had it. */
  readonly fingerprints: ReadonlyMap<number, string>;
}

const NO_SCHEMA: SchemaState = { version: 0, breaking: 0, fingerprints: new Map() };

// One for each schema; which number does not matter, but that nobody else takes it.
const LOCK = "select pg_advisory_xact_lock(hashtextextended('countersign', 4849336966747728))";
// Commits queue up behind a migration that waits for a table, and wait for three seconds at most.
const TABLE_WAIT = "set local lock_timeout = '1s'";
const PAUSE_MS = 2_000;
const MOST_TRIES = 100;
const HAS_META = "select to_regclass('countersign.meta') is not null";
const STATE = `select name, value from countersign.meta where name in ('schema', 'breaking') or name like '${FINGERPRINT}%'`;
/** What every other step needs first. */
export const MAKE_META = `
create schema if not exists countersign;
create table if not exists countersign.meta (name text collate "C" primary key, value text not null);
`;

/** The newest schema that this version of Countersign knows. */
export const NEWEST: number = MIGRATIONS.at(-1)?.version ?? 0;

/** Does not wait, unless asked to: a process that opens the ledger gets an error at once if the server is not there. */
export async function readSchema(
  database: Database,
  { patient = false }: { readonly patient?: boolean } = {},
): Promise<SchemaState> {
  const read = async (): Promise<SchemaState> => {
    const unnamed = { named: false, patient };
    const made = await database.get(HAS_META, [], unnamed);
    return made?.[0] === true ? toState(await database.all(STATE, [], unnamed)) : NO_SCHEMA;
  };
  try {
    return await read();
  } catch (error) {
    // If the server is slow to answer, it is asked on a new connection, and the first one is dropped: the server is there.
    if (patient || !wasCut(error)) throw error;
    return read();
  }
}

function wasCut(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && /terminated/i.test(error.cause.message);
}

/**
 * Throws `ledger-older` where the schema is behind, `ledger-newer` where this code must not use it, and `ledger-mismatch`
 * where another build made it.
 */
export function assertUsable(state: SchemaState, name: string): void {
  const { version } = state;
  assertOurs(state, name);
  if (version >= NEWEST) return;
  const found = version === 0 ? "has no schema" : `has schema ${version}`;
  throw new CountersignError(
    "ledger-older",
    `The ledger "${name}" ${found}, but this version of Countersign needs ${NEWEST}. Run \`countersign migrate\` or \`countersign serve --migrate\`, or set \`migrate: true\` in code.`,
    { details: { ledger: name, found: version, needed: NEWEST } },
  );
}

/** Is what this build knows of the schema what it makes itself? */
export function isMadeByThisBuild(state: SchemaState): boolean {
  return isSameBuild(state, MIGRATIONS);
}

/**
 * Brings the schema to the newest version, all steps in one transaction. Any number of processes may do this at
 * once: they take turns under a lock, the first migrates, the others find it done. If somebody else holds a table for long, it
 * steps back and tries again later, so that commits do not wait behind it. Resolves to what was there before.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrateOnce(database, migrations);
    } catch (error) {
      if (!isLockTimeout(error)) throw toLedgerError(error, database.name);
      if (tries === MOST_TRIES) throw tableInUse(database.name, error);
      await sleep(PAUSE_MS);
    }
  }
}

async function migrateOnce(database: Database, migrations: readonly Migration[]): Promise<SchemaState> {
  const connection = await database.loneConnection({ patient: true });
  connection.on("error", () => {});
  try {
    await connection.connect();
    await connection.query({ text: "begin; set local statement_timeout = 0; set local lock_timeout = 0" });
    await connection.query({ text: LOCK });
    await connection.query({ text: TABLE_WAIT });
    const before = await lockedState(connection);
    assertOurs(before, database.name);
    await apply(connection, before, migrations);
    await connection.query({ text: "commit" });
    return before;
  } finally {
    await connection.end().catch(() => {});
  }
}

async function lockedState(connection: LoneConnection): Promise<SchemaState> {
  const made = await connection.query({ text: HAS_META, rowMode: "array" });
  if (made.rows[0]?.[0] !== true) return NO_SCHEMA;
  return toState((await connection.query({ text: STATE, rowMode: "array" })).rows);
}

async function apply(
  connection: LoneConnection,
  { version, breaking }: SchemaState,
  migrations: readonly Migration[],
): Promise<void> {
  const missing = migrations.filter((migration) => migration.version > version);
  const last = missing.at(-1);
  if (last === undefined) return;
  if (version === 0) await connection.query({ text: MAKE_META });
  for (const migration of missing) {
    for (const text of migration.texts) await connection.query({ text });
    await migration.fill?.(connection);
  }
  const broken = missing.findLast((migration) => migration.breaking)?.version ?? breaking;
  const own = [...fingerprints(migrations)].filter(([made]) => made > version);
  const rows = [
    ["schema", last.version],
    ["breaking", broken],
    ...own.map(([made, fingerprint]) => [`${FINGERPRINT}${made}`, fingerprint]),
  ];
  await connection.query({
    text:
      `insert into countersign.meta (name, value) values ${rows.map(([name, value]) => `('${name}', '${value}')`).join(", ")} ` +
      "on conflict (name) do update set value = excluded.value",
  });
}

function toState(rows: readonly (readonly unknown[])[]): SchemaState {
  const values = new Map(rows.map(([name, value]) => [String(name), String(value)]));
  return {
    version: Number(values.get("schema") ?? 0),
    breaking: Number(values.get("breaking") ?? 0),
    fingerprints: new Map(
      [...values].flatMap(([name, value]) =>
        name.startsWith(FINGERPRINT) ? [[Number(name.slice(FINGERPRINT.length)), value] as const] : [],
      ),
    ),
  };
}

/** Throws `ledger-newer` or `ledger-mismatch` where this build may neither use nor migrate the ledger. */
export function assertOurs(state: SchemaState, name: string): void {
  if (state.breaking > NEWEST) throw newer(name, state.breaking);
  if (!isMadeByThisBuild(state)) throw otherBuild(name, Math.min(state.version, NEWEST));
}

function newer(name: string, found: number): CountersignError {
  return new CountersignError(
    "ledger-newer",
    `The ledger "${name}" has schema ${found}, and that migration is breaking: this version of Countersign (${NEWEST}) must not use it. Upgrade Countersign in this process.`,
    { details: { ledger: name, found, known: NEWEST } },
  );
}

function tableInUse(name: string, cause: unknown): CountersignError {
  return new CountersignError(
    "ledger-busy",
    `The ledger "${name}" was not migrated: a long transaction of somebody else uses a table that the migration changes. End it (see pg_stat_activity), and try again.`,
    { details: { ledger: name }, cause },
  );
}
