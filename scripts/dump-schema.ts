// Migrates an empty database and writes its schema to docs/schema/sqlite.sql; with --check it compares instead.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../src/stores/sqlite/database.ts";
import { migrate } from "../src/stores/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/stores/sqlite/migrations/index.ts";

const target = fileURLToPath(new URL("../docs/schema/sqlite.sql", import.meta.url));
const HEADER =
  "-- The SQLite ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.\n" +
  "-- No table is public: read through the `Ledger`, which also judges leases and deadlines.\n";

async function dumpSchema(): Promise<string> {
  const database = await openDatabase({ path: ":memory:" });
  await migrate(database, MIGRATIONS);
  const version = database.get("pragma user_version")?.[0];
  const rows = database.all("select sql from sqlite_schema where sql is not null order by rowid");
  database.close();
  const statements = rows.map(([sql]) => `${String(sql)};\n`);
  return `${HEADER}\npragma user_version = ${String(version)};\n\n${statements.join("\n")}`;
}

const schema = await dumpSchema();
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== schema) {
    process.stderr.write(
      "docs/schema/sqlite.sql is not what the migrations make: run scripts/dump-schema.ts.\n",
    );
    process.exitCode = 1;
  }
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, schema);
}
