import type { CallRecord, Page, PageRequest, StepRecord } from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { CALL_COLUMNS, list, STEP_COLUMNS } from "../sql/columns.ts";
import { type Paging, readPage } from "../sql/pages.ts";
import { toCall, toStep } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const ONE = `select ${list(CALL_COLUMNS)} from calls where id = ?`;
const SEVERAL = `select ${list(CALL_COLUMNS, "k")} from json_each(?) wanted cross join calls k on k.id = wanted.value order by wanted.key`;
const UNKNOWN =
  `select ${list(CALL_COLUMNS)} from calls indexed by calls_unknown ` +
  "where status = 'unknown' and id > ? order by id limit ?";
// Answered: see `isAnswered` of the lifecycle.
const UNANSWERED =
  `select ${list(CALL_COLUMNS)} from calls where id > ? and id < ? and session = ? ` +
  "and status in ('waiting', 'ready', 'executing', 'suspended', 'unknown') order by id";
const STEPS = `select ${list(STEP_COLUMNS)} from steps where call = ? order by kind, name, occurrence`;

export function readCalls(database: Database, ids: readonly string[]): readonly CallRecord[] {
  const [first] = ids;
  if (first === undefined) return [];
  const rows = ids.length === 1 ? database.all(ONE, [first]) : database.all(SEVERAL, [JSON.stringify(ids)]);
  return rows.map((row) => toCall(row));
}

export function readUnansweredCalls(database: Database, session: string): readonly CallRecord[] {
  return database.all(UNANSWERED, [...callRange(session), session]).map((row) => toCall(row));
}

export function listUnknownCalls(database: Database, request: PageRequest | undefined): Page<CallRecord> {
  const paging: Paging<CallRecord> = {
    request,
    start: [""],
    item: (row) => toCall(row),
    position: (call) => [call.id],
  };
  return readPage(paging, (after, limit) => database.all(UNKNOWN, [...after, limit]));
}

export function readSteps(database: Database, call: string): readonly StepRecord[] {
  return database.all(STEPS, [call]).map(toStep);
}
