import { existsSync, renameSync, rmSync } from "node:fs";
import { suspendLedger } from "../engine/index.ts";
import { CountersignError, type JsonObject } from "../protocol/index.ts";

/**
 * Copies a ledger into a new SQLite file: all of it, as it is at one moment, while others go on. Nothing starts from the
 * copy, because it is suspended: `audit verify`, `audit log` and `show` read it. It has its name only when it is complete.
 */
export async function copyLedger(
  source: { readonly sqlite: string } | { readonly postgres: string },
  copy: string,
  why: JsonObject,
): Promise<void> {
  if (existsSync(copy)) {
    throw new CountersignError(
      "invalid-option",
      `The file "${copy}" exists. Choose another name, or remove it.`,
    );
  }
  const partial = `${copy}.partial`;
  for (const left of [partial, `${partial}-wal`, `${partial}-shm`]) rmSync(left, { force: true });
  const { copySqliteFile, openSqliteLedger, writeSqliteFile } = await import("./sqlite/index.ts");
  if ("sqlite" in source) copySqliteFile(source.sqlite, partial);
  else {
    const { readPostgresContent } = await import("./postgres/index.ts");
    await readPostgresContent(source.postgres, (content) => writeSqliteFile(partial, content));
  }
  const ledger = await openSqliteLedger({ path: partial, durability: "full" });
  try {
    await suspendLedger(ledger.items, why);
  } finally {
    await ledger.close();
  }
  renameSync(partial, copy);
}
