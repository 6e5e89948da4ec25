import type { CallRecord, Page, StepRecord, UnknownCallsRequest } from "../../engine/index.ts";
import { callRange } from "../sql/call-range.ts";
import { BY_CALL, callOf } from "../sql/call-rows.ts";
import { CALL_COLUMNS, list, STEP_COLUMNS } from "../sql/columns.ts";
import { readPage } from "../sql/pages.ts";
import { toCall, toStep } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const ONE = `select ${list(CALL_COLUMNS)} from calls where id = ?`;
const SEVERAL = `select ${list(CALL_COLUMNS, "k")} from json_each(?) wanted cross join calls k on k.id = wanted.value order by wanted.key`;
// As many as wait for a person to settle them.
const UNKNOWN =
  "from calls k indexed by calls_unknown cross join sessions s on s.key = k.session " +
  "where k.status = 'unknown' and k.id > ?";
const UNASKED = " and k.confirmation is null";
const ASKED_BY =
  " and exists (select 1 from json_each(coalesce(k.requesters, json_array(s.user))) asked " +
  "where asked.value in (select value from json_each(?) wanted))";
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

export function listUnknownCalls(
  database: Database,
  request: UnknownCallsRequest | undefined,
): Page<CallRecord> {
  const { unasked, askedBy } = request ?? {};
  const conditions = (unasked === true ? UNASKED : "") + (askedBy === undefined ? "" : ASKED_BY);
  const sql = `select ${callOf(request)} ${UNKNOWN}${conditions} order by k.id limit ?`;
  const given = askedBy === undefined ? [] : [JSON.stringify(askedBy)];
  return readPage({ ...BY_CALL, request }, (after, limit) => database.all(sql, [...after, ...given, limit]));
}

export function readSteps(database: Database, call: string): readonly StepRecord[] {
  return database.all(STEPS, [call]).map(toStep);
}
