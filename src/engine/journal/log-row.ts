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

/** What a commit says has happened, as the body of its line. All are given as JSON. */
export function rowBody(records: readonly string[], events: readonly string[]): string {
  return `{"records":[${records.join(",")}],"events":[${events.join(",")}]}`;
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

function bodiesOf({ kinds, body }: LogRow): readonly JsonValue[] {
  if (body === null) return [];
  const parsed = parsedBody(body);
  const records = parsed?.["records"];
  return isJsonArray(records) ? records : kinds.map(() => body);
}

/** The events of a line; none where its body is gone. */
export function eventsOf({ body }: Pick<LogRow, "body">): readonly StoredEvent[] {
  const events = body === null ? undefined : parsedBody(body)?.["events"];
  return isJsonArray(events) ? (events as unknown as readonly StoredEvent[]) : [];
}

// Written by this code, or by somebody who was at the database: then it may be anything.
function parsedBody(body: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
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
