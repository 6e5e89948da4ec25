import type { LockedTable } from "../../sql/migration-plan.ts";

type Lock = Omit<LockedTable, "rows">;

const EXCLUSIVE = { lock: "ACCESS EXCLUSIVE", blocks: "reads and writes" } as const;
const TABLE = String.raw`(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?(?:countersign\w*\.)?"?(\w+)"?`;

/** Which lock a statement takes on which table that exists before it, by the words that it begins with. First match counts. */
const RULES: readonly (readonly [RegExp, Omit<Lock, "table">])[] = [
  [
    new RegExp(String.raw`^create\s+(?:unique\s+)?index\s+concurrently\s[\s\S]*?\bon\s+${TABLE}`, "i"),
    { lock: "SHARE UPDATE EXCLUSIVE", blocks: "nothing" },
  ],
  [
    new RegExp(String.raw`^create\s+(?:unique\s+)?index\s[\s\S]*?\bon\s+${TABLE}`, "i"),
    { lock: "SHARE", blocks: "writes" },
  ],
  [
    new RegExp(String.raw`^alter\s+table\s+${TABLE}\s+validate\s+constraint`, "i"),
    { lock: "SHARE UPDATE EXCLUSIVE", blocks: "nothing" },
  ],
  [
    new RegExp(String.raw`^alter\s+table\s+${TABLE}\s+set\s+\((?:fillfactor|autovacuum)`, "i"),
    { lock: "SHARE UPDATE EXCLUSIVE", blocks: "nothing" },
  ],
  [new RegExp(String.raw`^alter\s+table\s+${TABLE}`, "i"), EXCLUSIVE],
  [new RegExp(String.raw`^drop\s+table\s+${TABLE}`, "i"), EXCLUSIVE],
  [new RegExp(String.raw`^truncate\s+(?:table\s+)?${TABLE}`, "i"), EXCLUSIVE],
  [new RegExp(String.raw`^update\s+${TABLE}`, "i"), { lock: "ROW EXCLUSIVE", blocks: "nothing" }],
  [new RegExp(String.raw`^delete\s+from\s+${TABLE}`, "i"), { lock: "ROW EXCLUSIVE", blocks: "nothing" }],
  [new RegExp(String.raw`^insert\s+into\s+${TABLE}`, "i"), { lock: "ROW EXCLUSIVE", blocks: "nothing" }],
];

/** Locks on tables that are there now: nobody waits for a table that the migration makes. */
export function locksOf(statement: string, exists: (table: string) => boolean): readonly Lock[] {
  for (const [pattern, lock] of RULES) {
    const table = pattern.exec(statement)?.[1];
    if (table !== undefined) return exists(table) ? [{ table, ...lock }] : [];
  }
  return [];
}
