import { searchableWords } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Row } from "../sql/row.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { toLexeme } from "./search-terms.ts";

const PLACE =
  "select value::bigint, countersign.journal_end() from countersign.meta where name = 'search-place'";
const CHANGED = "select seq, stream from countersign.journal_page($1, $2, $3)";
// What is open in these sessions and not in the index as it is now.
const MISSING = `
  select i.id, i.session, i.tool, i.agent, k.args, k.secrets, k.args_digest
  from countersign.inbox i join countersign.calls k on k.id = i.call
  where i.session = any($1::text[]) and not exists (
    select 1 from countersign.searchable e where e.confirmation = i.id and e.args_digest = k.args_digest)`;
const DROP_STALE = `
  delete from countersign.searchable e where e.session = any($1::text[]) and not exists (
    select 1 from countersign.inbox i join countersign.calls k on k.id = i.call
    where i.id = e.confirmation and k.args_digest = e.args_digest)`;
// An entry whose confirmation was closed meanwhile, or whose session was erased, must not come back.
const ADD = `
  insert into countersign.searchable (confirmation, session, args_digest, words)
  select r.id, r.session, r.digest, array_to_tsvector(array(select jsonb_array_elements_text(r.words)))
  from jsonb_to_recordset($1::jsonb) as r (id text, session text, digest text, words jsonb)
  join countersign.inbox i on i.id = r.id
  on conflict (confirmation) do update set args_digest = excluded.args_digest, words = excluded.words`;
const MOVE =
  "update countersign.meta set value = $1 where name = 'search-place' and value::bigint < $1::bigint";

// Journal records that are looked at together.
const BATCH = 500;

/**
 * Brings the index to where the journal ended when this was called, or so many records further. The journal says in
 * which sessions something changed; what is open there is read from the inbox itself. Any number may do this at once.
 */
export async function catchUp(database: Database, most: number = Number.MAX_SAFE_INTEGER): Promise<void> {
  const [place = 0, end = 0] = ((await database.get(PLACE)) ?? []) as readonly number[];
  const until = Math.min(end, place + most);
  for (let after = place; after < until; ) {
    const changed = await database.all(CHANGED, [after, until, BATCH]);
    await indexSessions(database, [...new Set(changed.map(([, stream]) => stream as string))]);
    // Positions that nobody got are passed over.
    after = changed.length < BATCH ? until : (changed.at(-1)?.[0] as number);
    await database.run(MOVE, [String(after)]);
  }
}

async function indexSessions(database: Database, sessions: readonly string[]): Promise<void> {
  if (sessions.length === 0) return;
  await database.run(DROP_STALE, [sessions]);
  const missing = await database.all(MISSING, [sessions]);
  if (missing.length > 0) await database.run(ADD, [JSON.stringify(missing.map(toEntry))]);
}

function toEntry([id, session, tool, agent, args, secrets, digest]: Row): object {
  const words = searchableWords(
    { tool: tool as string, agent: agent as string },
    { args: fromJson(args) as JsonObject, secrets: fromJson(secrets) as readonly string[] },
  );
  return { id, session, digest, words: [...new Set(words.map(toLexeme))] };
}
