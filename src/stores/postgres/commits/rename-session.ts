import { documentText, type SessionRenaming } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";
import { ENTRY_PARAMETERS, entryValues, keepEntries } from "./change-parts.ts";
import { SYNCED } from "./commit-statement.ts";

const [KEY, VERSION, USER, BODY, NS, ARCHIVES] = Array.from(
  { length: 6 },
  (_, at) => `$${ENTRY_PARAMETERS + 1 + at}`,
);

const RENAME = `
with done as (
  update countersign.documents set "user" = ${USER}, body = ${BODY}
  where key = ${KEY} and version = ${VERSION}::bigint and deleted returning 0 as place
),
archived as (
  update countersign.log l set archived = a.archived
  from unnest(${NS}::bigint[], ${ARCHIVES}::text[]) a (n, archived)
  where l.session = ${KEY} and l.n = a.n and exists (select 1 from done)
),
${keepEntries(1)}
select (select ${SYNCED}) from done`;

/** False where the session is not erased, or not as it was read. Doing it again changes nothing. */
export async function renameSession(database: Database, renaming: SessionRenaming): Promise<boolean> {
  const { key, version, document, archives, add, remove } = renaming;
  const entries = entryValues([{ place: 0, id: "0", change: { items: [], add, remove } }]);
  const rows = await database.all(RENAME, [
    ...entries,
    key,
    version,
    document.head.user,
    documentText(key, document),
    archives.map(([n]) => n),
    archives.map(([, archive]) => JSON.stringify(archive)),
  ]);
  return rows.length > 0;
}
