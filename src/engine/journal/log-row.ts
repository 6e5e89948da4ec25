import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
} from "../../protocol/index.ts";
import type { JournalRecord, LogRow } from "../ledger/index.ts";

/** Positions of records: so many fit into one line of the log. */
const PER_ROW = 4_096;

/** In a body it stands for the key of its session. JSON has this character only escaped, so no text has it by itself. */
const OWN_KEY = "\u0001";
/** As long as the keys are that the engine makes. */
const LONG_KEY = 26;

/**
 * What a commit of a session says has happened, as the body of its line. All are given as JSON. An event without a time has
 * that of the line.
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
export function eventsOf({
  session,
  at,
  body,
}: Pick<LogRow, "session" | "at" | "body">): readonly StoredEvent[] {
  const events = body === null ? undefined : parsedBody(session, body)?.["events"];
  if (!isJsonArray(events)) return [];
  return events.map((event) => ({ timestamp: at, ...(event as JsonObject) }) as unknown as StoredEvent);
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
