import type { Shown, Vote } from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { fromJson, toJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { dropSessionWords } from "./search-index.ts";

const NOTHING_SHOWN: Shown = { hint: "", why: [] };

const DELETE_EVENTS = "delete from events where session = ?";
const DELETE_STATE = "delete from states where scope = 'session' and app = '' and user = '' and session = ?";
const ERASE_FRAMES =
  "update frames set cursor = 'null', output = null where id > ? and id < ? and session = ?";
const ERASE_CALLS =
  "update calls set args = '{}', secrets = '[]', original_args = null, result = null, args_cut = null, result_cut = null " +
  "where id > ? and id < ? and session = ?";
const ERASE_STEPS =
  "update steps set value = null where call > ? and call < ? and exists " +
  "(select 1 from calls where id = steps.call and session = ?)";
const ERASE_JOURNAL = "update journal set body = null where stream = ?";
const VOTES = "select id, votes from confirmations where session = ?";
const ERASE_CONFIRMATION =
  "update confirmations set shown = ?, votes = ?, shown_cut = null, votes_cut = null, " +
  "withdrawal = case when withdrawal is null then null else '' end where id = ?";

/** Removes what was said and done, and keeps that it was: ids, statuses, digests, who decided and when. */
export function eraseSession(database: Database, session: string): void {
  dropSessionWords(database, session);
  database.run(DELETE_EVENTS, [session]);
  database.run(DELETE_STATE, [session]);
  database.run(ERASE_FRAMES, [...callRange(session), session]);
  database.run(ERASE_CALLS, [...callRange(session), session]);
  database.run(ERASE_STEPS, [...callRange(session), session]);
  for (const [id, votes] of database.all(VOTES, [session])) {
    const erased = (fromJson(votes) as readonly Vote[]).map(eraseVote);
    database.run(ERASE_CONFIRMATION, [toJson(NOTHING_SHOWN), toJson(erased), id ?? null]);
  }
  database.run(ERASE_JOURNAL, [session]);
}

function eraseVote({ reason: _reason, payload: _payload, args: _args, ...kept }: Vote): Vote {
  return kept;
}
