import type { CallRecord, Page, StepRecord, UnknownCallsRequest } from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { BY_CALL, callOf } from "../sql/call-rows.ts";
import { CALL_COLUMNS, list, STEP_COLUMNS } from "../sql/columns.ts";
import { toCall, toStep } from "../sql/rows.ts";
import { Values } from "./confirmation-filter.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";

const COLUMNS = list(CALL_COLUMNS, "k");
const SEVERAL =
  `select ${COLUMNS} from unnest($1::text[]) with ordinality wanted (id, place) ` +
  "join countersign.calls k on k.id = wanted.id order by wanted.place";
// As many as wait for a person to settle them.
const UNKNOWN =
  "from countersign.calls k join countersign.sessions s on s.key = k.session where k.status = 'unknown'";
const UNASKED = " and k.confirmation is null";
// A NUL cannot be read from JSON here, and nobody is called so.
const ASKED_BY = (askedBy: string): string =>
  ' and case when k.requesters is null then s."user" = any(' +
  `${askedBy}) when strpos(k.requesters, '\\u0000') > 0 then false else k.requesters::jsonb ?| ${askedBy} end`;
// Answered: see `isAnswered` of the lifecycle.
const UNANSWERED =
  `select ${COLUMNS} from countersign.calls k where k.id > $1 and k.id < $2 and k.session = $3 ` +
  "and k.status in ('waiting', 'ready', 'executing', 'suspended', 'unknown') order by k.id";
const STEPS = `select ${list(STEP_COLUMNS)} from countersign.steps where call = $1 order by kind, name, occurrence`;

export async function readCalls(database: Database, ids: readonly string[]): Promise<readonly CallRecord[]> {
  database.assertOpen();
  // No call has an id with a NUL, and the database cannot be asked for one.
  const possible = ids.filter((id) => !id.includes("\0"));
  if (possible.length === 0) return [];
  return (await database.all(SEVERAL, [possible], { shared: true })).map((row) => toCall(row));
}

export async function readUnansweredCalls(
  database: Database,
  session: string,
): Promise<readonly CallRecord[]> {
  return (await database.all(UNANSWERED, [...callRange(session), session], { shared: true })).map((row) =>
    toCall(row),
  );
}

export function listUnknownCalls(
  database: Database,
  request: UnknownCallsRequest | undefined,
): Promise<Page<CallRecord>> {
  const { unasked, askedBy } = request ?? {};
  return readPage({ ...BY_CALL, request }, ([after = ""], limit) => {
    const values = new Values();
    const place = ` and k.id > ${values.add(after)}`;
    const by = askedBy === undefined ? "" : ASKED_BY(`${values.add(askedBy)}::text[]`);
    const rest = `${unasked === true ? UNASKED : ""}${by} order by k.id limit ${limit}`;
    return database.all(`select ${callOf(request)} ${UNKNOWN}${place}${rest}`, values.all, { named: false });
  });
}

export async function readSteps(database: Database, call: string): Promise<readonly StepRecord[]> {
  return (await database.all(STEPS, [call], { shared: true })).map(toStep);
}
