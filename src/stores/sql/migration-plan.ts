/** A table that a step of a migration locks, with about how many rows it has. */
export interface LockedTable {
  readonly table: string;
  /** As PostgreSQL names the lock; `file` where the whole file is locked. */
  readonly lock: string;
  /** What must wait meanwhile. */
  readonly blocks: "nothing" | "writes" | "reads and writes";
  readonly rows: number;
}

/** One statement of a migration. */
export interface PlannedStatement {
  readonly text: string;
  readonly locks: readonly LockedTable[];
  /** About how long it takes, in seconds: a guess from the number of rows. */
  readonly seconds: number;
}

/** One migration that has not been made. */
export interface PlannedMigration {
  readonly version: number;
  /** Processes of an older version refuse the ledger after it. */
  readonly breaking: boolean;
  readonly statements: readonly PlannedStatement[];
}

/** What a migration would do. */
export interface MigrationPlan {
  readonly from: number;
  readonly to: number;
  readonly migrations: readonly PlannedMigration[];
}

/** What a migration says of itself. */
interface Described {
  readonly version: number;
  readonly breaking?: true;
  readonly texts: readonly string[];
}

/** About how many rows a second are rewritten, indexed or checked. */
const ROWS_A_SECOND = 100_000;

/** The migrations that are missing, each statement with its locks and an estimate. */
export function planMigrations(
  { from, migrations }: { readonly from: number; readonly migrations: readonly Described[] },
  rowsOf: (table: string) => number,
  locksOf: (statement: string) => readonly Omit<LockedTable, "rows">[],
): MigrationPlan {
  const missing = migrations.filter(({ version }) => version > from);
  return {
    from,
    to: missing.at(-1)?.version ?? from,
    migrations: missing.map(({ version, breaking, texts }) => ({
      version,
      breaking: breaking === true,
      statements: texts.flatMap(statementsOf).map((text) => {
        const locks = locksOf(text).map((lock) => ({ ...lock, rows: rowsOf(lock.table) }));
        const rows = takesLong(text) ? Math.max(0, ...locks.map((lock) => lock.rows)) : 0;
        return { text, locks, seconds: rows / ROWS_A_SECOND };
      }),
    })),
  };
}

/** Only these look at rows; what adds a column or a table does not. */
function takesLong(statement: string): boolean {
  const rewrites =
    /\balter\s+(column\s+\S+\s+)?(set\s+data\s+)?type\b|\bset\s+not\s+null\b|\badd\s+(constraint|primary|unique|foreign|check)\b/i;
  return (
    /^(create\s+(unique\s+)?index|reindex|update|delete|insert)\b/i.test(statement) ||
    rewrites.test(statement)
  );
}

/** The statements of a text, without comments. Semicolons within quotes, dollar quotes and comments end none. */
export function statementsOf(text: string): readonly string[] {
  const parts =
    text.match(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|--[^\n]*|;|[^;$'"-]+|[\s\S]/g) ?? [];
  const statements = [""];
  for (const part of parts) {
    if (part === ";") statements.push("");
    else if (!part.startsWith("--")) statements[statements.length - 1] += part;
  }
  return statements
    .map((statement) => statement.trim().replaceAll(/\n\s*\n/g, "\n"))
    .filter((statement) => statement !== "");
}
