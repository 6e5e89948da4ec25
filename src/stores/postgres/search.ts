import {
  type ConfirmationFilter,
  type ConfirmationWithCall,
  type ListRequest,
  type Page,
  wordsOf,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { BY_DEADLINE, bothOf } from "../sql/confirmation-rows.ts";
import { askedFor, type Position, toPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { conditionsOn, type Narrowing, narrow, Values } from "./confirmation-filter.ts";
import { WITH_CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { mayBeOpen } from "./open-confirmations.ts";
import { catchUp } from "./search-index.ts";
import { toQuery } from "./search-terms.ts";
import { readShown } from "./shown-confirmations.ts";

const MOST_WORDS = 20;
// How much of the inbox is looked through before the index of words is asked.
const WINDOW = 2_000;

interface Look {
  readonly request: ListRequest | undefined;
  readonly narrowing: Narrowing;
  readonly query: string;
  readonly after: Position;
  readonly wanted: number;
}

/**
 * Open confirmations that have all these words, in the order of the inbox. Common words are found at once by looking
 * through the inbox from where the page begins; for the rest the index of words is asked.
 */
export async function searchOpen(
  database: Database,
  filter: ConfirmationFilter & { readonly words: string },
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const words = wordsOf(filter.words);
  checkCount(words);
  const paging = { ...BY_DEADLINE, request };
  const { after, wanted } = askedFor(paging);
  await catchUp(database);
  const narrowing = mayBeOpen(filter) ? await narrow(database, filter) : undefined;
  if (words.length === 0 || narrowing === undefined) return toPage(paging, [], wanted);
  const look = { request, narrowing, query: toQuery(words), after, wanted };
  const { viewers } = filter;
  if (viewers !== undefined) {
    // Not by the index of words: how much of it there is, and so how long that takes, others decide.
    const and = (values: Values): string => itsWords(look, values);
    const shown = await readShown(database, { ...look, state: "open", viewers, and });
    return toPage(paging, shown, wanted);
  }
  const near = await read(database, look, nearby);
  const isAll = near.length === wanted || !(await goesOn(database, look));
  return toPage(paging, isAll ? near : await read(database, look, byWords), wanted);
}

/** The next so many of the inbox, those that fit among them: each is looked up, however many others have the words. */
function nearby(look: Look, values: Values): string {
  return (
    `select i.id, i.deadline from (${inbox(look, values)} limit ${WINDOW}) i cross join lateral (` +
    "select from countersign.searchable e where e.confirmation = i.id " +
    `and e.words @@ ${values.add(look.query)}::tsquery offset 0) fits ` +
    `order by i.deadline, i.id limit ${look.wanted}`
  );
}

function itsWords({ query }: Look, values: Values): string {
  const fits = `e.words @@ ${values.add(query)}::tsquery`;
  return ` and exists (select 1 from countersign.searchable e where e.confirmation = c.id and ${fits} offset 0)`;
}

/** Is there more of the inbox than was looked through? */
async function goesOn(database: Database, look: Look): Promise<boolean> {
  const values = new Values();
  const sql = `${inbox(look, values)} offset ${WINDOW} limit 1`;
  return (await database.get(sql, values.all, { named: false })) !== undefined;
}

/** Whatever has the words is looked up in the inbox, which is not read for it, however many the planner expects. */
function byWords({ narrowing, query, after, wanted }: Look, values: Values): string {
  const hits = `select e.confirmation from countersign.searchable e where e.words @@ ${values.add(query)}::tsquery`;
  return (
    `with hits as materialized (${hits}) select i.id, i.deadline from hits cross join lateral (` +
    "select i.id, i.deadline from countersign.inbox i where i.id = hits.confirmation and " +
    `${behind(after, values)}${conditionsOn("i", narrowing, values)} offset 0) i ` +
    `order by i.deadline, i.id limit ${wanted}`
  );
}

function inbox({ narrowing, after }: Look, values: Values): string {
  return (
    `select i.id, i.deadline from countersign.inbox i where ${behind(after, values)}` +
    `${conditionsOn("i", narrowing, values)} order by i.deadline, i.id`
  );
}

function behind([deadline = 0, id = ""]: Position, values: Values): string {
  return `(i.deadline, i.id) > (${values.add(deadline)}::bigint, ${values.add(id)}::text)`;
}

function read(
  database: Database,
  look: Look,
  page: (look: Look, values: Values) => string,
): Promise<readonly Row[]> {
  const values = new Values();
  const sql = `select ${bothOf(look.request)} from (${page(look, values)}) i ${WITH_CALL_AND_SESSION} order by i.deadline, i.id`;
  return database.all(sql, values.all, { named: false });
}

function checkCount(words: readonly string[]): void {
  if (words.length <= MOST_WORDS) return;
  throw new CountersignError(
    "malformed-request",
    `The search has ${words.length} words. Use at most ${MOST_WORDS}.`,
    { details: { field: "words" } },
  );
}
