// Writes the schemas that the migrations make to docs/schema/; with --check it compares instead.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { MAKE_META, MIGRATIONS as POSTGRES_MIGRATIONS } from "../src/stores/postgres/schema/index.ts";
import { openDatabase } from "../src/stores/sqlite/connection/database.ts";
import { migrate } from "../src/stores/sqlite/schema/migrate.ts";
import { MIGRATIONS } from "../src/stores/sqlite/schema/schema.ts";

const HEADER = (store: string): string =>
  `-- The ${store} ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.\n` +
  "-- No table is public: read through the `Ledger`, which also judges leases and deadlines.\n";

const SCHEMAS = { "sqlite.sql": dumpSqlite, "postgres.sql": dumpPostgres } as const;

async function dumpSqlite(): Promise<string> {
  const database = await openDatabase({ path: ":memory:" });
  await migrate(database, MIGRATIONS);
  const version = database.get("pragma user_version")?.[0];
  const rows = database.all("select sql from sqlite_schema where sql is not null order by rowid");
  database.close();
  const statements = rows.map(([sql]) => `${String(sql)};\n`);
  return `${HEADER("SQLite")}\npragma user_version = ${String(version)};\n\n${statements.join("\n")}`;
}

/** What the migrations say to a server. */
async function dumpPostgres(): Promise<string> {
  const said = [MAKE_META, ...POSTGRES_MIGRATIONS.flatMap(({ texts }) => texts)];
  const version = POSTGRES_MIGRATIONS.at(-1)?.version ?? 0;
  return `${HEADER("PostgreSQL")}-- Schema ${version}.\n\n${said.map((text) => text.trim()).join("\n\n")}\n`;
}

for (const [name, dump] of Object.entries(SCHEMAS)) {
  const target = fileURLToPath(new URL(`../docs/schema/${name}`, import.meta.url));
  const schema = await dump();
  if (process.argv.includes("--check")) {
    if (readFileSync(target, "utf8") === schema) continue;
    process.stderr.write(
      `docs/schema/${name} is not what the migrations make: run scripts/dump-schema.ts.\n`,
    );
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, schema);
  }
}
