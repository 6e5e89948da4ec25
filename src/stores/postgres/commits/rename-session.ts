import { documentText, type SessionRenaming } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";
import { ENTRY_PARAMETERS, entryParameters, keepEntries } from "./change-parts.ts";
import { SYNCED } from "./commit-statement.ts";

const [KEY, VERSION, USER, BODY, NS, ARCHIVES, GUARD_KIND, GUARD_ID, GUARD_VERSION, UPDATED_AT] = Array.from(
  { length: 10 },
  (_, at) => `$${ENTRY_PARAMETERS + 1 + at}`,
);

const RENAME = `
with guard as materialized (
  select 1 from countersign.items
  where kind = ${GUARD_KIND} and id = ${GUARD_ID} and version = ${GUARD_VERSION}::bigint for share
),
done as (
  update countersign.documents set "user" = ${USER}, body = ${BODY}, updated_at = ${UPDATED_AT}::bigint
  where key = ${KEY} and version = ${VERSION}::bigint and deleted and exists (select 1 from guard)
  returning 0 as place
),
archived as (
  update countersign.log l set archived = a.archived
  from unnest(${NS}::bigint[], ${ARCHIVES}::text[]) a (n, archived)
  where l.session = ${KEY} and l.n = a.n and exists (select 1 from done)
),
${keepEntries(1)}
select (select ${SYNCED}) from done`;

/**
 * False where the session is not erased, or it or the guard not as it was read. The guard is locked: a transaction that changes it waits,
 * or has changed it and is seen. Doing it again changes nothing.
 */
export async function renameSession(database: Database, renaming: SessionRenaming): Promise<boolean> {
  const { key, version, document, archives, guard, add, remove } = renaming;
  const entries = entryParameters([{ place: 0, id: "0", change: { items: [], add, remove } }]);
  const rows = await database.all(RENAME, [
    ...entries,
    key,
    version,
    document.head.user,
    documentText(key, document),
    archives.map(([n]) => n),
    archives.map(([, archive]) => JSON.stringify(archive)),
    guard.kind,
    guard.id,
    guard.version,
    document.head.updatedAt,
  ]);
  return rows.length > 0;
}
