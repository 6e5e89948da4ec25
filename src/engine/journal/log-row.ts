import {
  type ConfirmationAsk,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
} from "../../protocol/index.ts";
import type { JournalRecord, LogRow } from "../ledger/index.ts";
import type { BodyOf } from "./bodies.ts";

/** How many records fit into one line of the log: their positions are numbered within it. */
const PER_ROW = 4_096;

/** In a body it replaces the key of its session. JSON has this character only escaped, so no text has it by itself. */
const OWN_KEY = "\u0001";
/** As long as the keys are that the engine makes. */
const LONG_KEY = 26;

/**
 * What a commit of a session says has happened, as the body of its line. All are given as JSON. What an event leaves out can be
 * told from the line: its time, its id, who says it if that is who spoke before, and of a question what its record says.
 */
export function rowBody(session: string, records: readonly string[], events: readonly string[]): string {
  const told = records.length === 0 ? "" : `"records":[${records.join(",")}],`;
  const body = `{${told}"events":[${events.join(",")}]}`;
  return session.length < LONG_KEY ? body : body.replaceAll(session, OWN_KEY);
}

/** How many records one commit may have. */
export const MOST_RECORDS: number = PER_ROW - 1;

/** The records of a line. Where its body is gone they have none; one that cannot be read is given as it is. */
export function recordsOf(row: LogRow): readonly JournalRecord[] {
  if (row.kinds.length === 0) return [];
  const bodies = bodiesOf(row);
  return row.kinds.map((kind, place) => ({
    seq: positionOf(row.seq, place),
    stream: row.session,
    n: positionOf(row.n, place),
    at: row.at,
    kind,
    hash: row.hash,
    body: bodies[place] ?? null,
  }));
}

function bodiesOf({ session, kinds, body }: LogRow): readonly JsonValue[] {
  if (body === null) return [];
  const parsed = parsedBody(session, body);
  const records = parsed?.["records"];
  return isJsonArray(records) ? records : kinds.map(() => body);
}

/** The events of a line; none where its body is gone. */
export function eventsOf(row: Pick<LogRow, "session" | "n" | "at" | "body">): readonly StoredEvent[] {
  const parsed = row.body === null ? undefined : parsedBody(row.session, row.body);
  const events = parsed?.["events"];
  if (!isJsonArray(events)) return [];
  const records = parsed?.["records"];
  const asked = isJsonArray(records) ? records.filter(isJsonObject) : [];
  let before: JsonObject = {};
  return events.map((event, place) => {
    const given = isJsonObject(event) ? event : {};
    before = { ...speakerOf(before), id: eventId(row, place), timestamp: row.at, ...given };
    return withQuestions(before as unknown as StoredEvent, asked);
  });
}

function speakerOf({ author, invocationId }: JsonObject): JsonObject {
  return {
    ...(author === undefined ? {} : { author }),
    ...(invocationId === undefined ? {} : { invocationId }),
  };
}

/**
 * The text of an event that follows another in its line, beside these records: without what {@link eventsOf} knows from
 * them.
 */
export function eventText(
  event: Partial<StoredEvent>,
  before: StoredEvent | undefined,
  records: readonly BodyOf<"confirmation-requested">[],
): string {
  const { author, invocationId, asks } = event;
  const isSame = before?.author === author && before?.invocationId === invocationId;
  const questions = asks?.map((ask) => (isRecorded(ask, records) ? withoutRecord(ask) : ask));
  return JSON.stringify({
    ...event,
    timestamp: undefined,
    ...(isSame ? { author: undefined, invocationId: undefined } : {}),
    ...(questions === undefined ? {} : { asks: questions }),
  });
}

/** The id of a line's event that was given none: the same wherever it is read. */
export function eventId({ session, n, at }: Pick<LogRow, "session" | "n" | "at">, place: number): string {
  return `${session}-${n}-${place}-${at.toString(36)}`;
}

/** The record beside an event says all of the question but its id. */
function isRecorded(
  { id, call, hint }: ConfirmationAsk,
  records: readonly BodyOf<"confirmation-requested">[],
): boolean {
  return records.some(
    (record) =>
      record.confirmation === id &&
      record.hint === hint &&
      record.tool === call.name &&
      record.args === call.args &&
      wireIdIn(record.call) === call.id,
  );
}

/** A question in an event, without what its record says. */
function withoutRecord({ hint: _hint, call: _call, ...ask }: ConfirmationAsk): object {
  return ask;
}

function withQuestions(event: StoredEvent, records: readonly JsonObject[]): StoredEvent {
  const { asks } = event;
  if (!Array.isArray(asks)) return event;
  return { ...event, asks: (asks as readonly ConfirmationAsk[]).map((ask) => withRecord(ask, records)) };
}

function withRecord(ask: ConfirmationAsk, records: readonly JsonObject[]): ConfirmationAsk {
  const given: unknown = ask;
  if (!isJsonObject(given) || "call" in given) return ask;
  const record = records.find(({ confirmation }) => confirmation === given["id"]);
  if (record === undefined) return ask;
  const { call, tool: name, args, hint } = record;
  const id = typeof call === "string" ? wireIdIn(call) : call;
  return { ...given, call: { id, name, args }, hint } as unknown as ConfirmationAsk;
}

/** A call's id says its session, and then how the model calls it. */
function wireIdIn(call: string): string {
  return call.slice(call.indexOf(".") + 1);
}

// Written by this code, or by somebody who was at the database: then it may be anything.
function parsedBody(session: string, body: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(body.replaceAll(OWN_KEY, session));
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The position of a line's record. */
export function positionOf(row: number, place: number): number {
  return row * PER_ROW + place;
}

/** How many commits lie between two positions. */
export function commitsBetween(from: number, to: number): number {
  return rowAt(to) - rowAt(from);
}

/** The line that a position is in. */
export function rowAt(position: number): number {
  return Math.floor(position / PER_ROW);
}
