import type { CallRecord, Page, PageRequest, StepRecord } from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { CALL_COLUMNS, list, STEP_COLUMNS } from "../sql/columns.ts";
import { toCall, toStep } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";

const COLUMNS = list(CALL_COLUMNS, "k");
const SEVERAL =
  `select ${COLUMNS} from unnest($1::text[]) with ordinality wanted (id, place) ` +
  "join countersign.calls k on k.id = wanted.id order by wanted.place";
const UNKNOWN = `select ${COLUMNS} from countersign.calls k where k.status = 'unknown' and k.id > $1 order by k.id limit $2`;
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
  request: PageRequest | undefined,
): Promise<Page<CallRecord>> {
  return readPage(
    { request, start: [""], item: (row) => toCall(row), position: (call) => [call.id] },
    (after, limit) => database.all(UNKNOWN, [...after, limit]),
  );
}

export async function readSteps(database: Database, call: string): Promise<readonly StepRecord[]> {
  return (await database.all(STEPS, [call], { shared: true })).map(toStep);
}
