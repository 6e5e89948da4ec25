import type { ListRequest, Page } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Row } from "./row.ts";

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 1_000;
// Of what is listed with long values cut.
const MOST_BYTES = 1_000_000;

/** The sort key of the last row of a page: the next one begins after it, whatever was inserted meanwhile. */
export type Position = readonly (string | number)[];

/** What a list says about its pages. */
export interface Paging<T> {
  readonly request: ListRequest | undefined;
  /** Where the first page starts; also tells the length and types of a position. */
  readonly start: Position;
  readonly item: (row: Row) => T;
  readonly position: (item: T) => Position;
}

/** Reads a page by a statement that begins after a position and gives at most so many rows. */
export function readPage<T>(
  paging: Paging<T>,
  rows: (position: Position, limit: number) => readonly Row[],
): Page<T> {
  const { after, wanted } = askedFor(paging);
  return toPage(paging, rows(after, wanted), wanted);
}

/** Where to begin, and how many rows to look for: one too many, to know whether there is a next page. */
export function askedFor(paging: Pick<Paging<unknown>, "request" | "start">): {
  readonly after: Position;
  readonly wanted: number;
} {
  const { cursor, limit = DEFAULT_LIMIT } = paging.request ?? {};
  return {
    after: cursor === undefined ? paging.start : parseCursor(cursor, paging.start),
    wanted: Math.min(Math.max(Math.trunc(limit), 1), LARGEST_LIMIT) + 1,
  };
}

export function toPage<T>(
  { request, item, position }: Paging<T>,
  found: readonly Row[],
  wanted: number,
): Page<T> {
  const most = Math.min(wanted - 1, request?.preview === true ? countWithin(found, MOST_BYTES) : wanted);
  const items = found.slice(0, most).map(item);
  const last = items.at(-1);
  return found.length <= most || last === undefined ? { items } : { items, next: toCursor(position(last)) };
}

/** How many of the first rows are no more than this together; at least one. */
function countWithin(rows: readonly Row[], bytes: number): number {
  let left = bytes;
  for (const [index, row] of rows.entries()) {
    for (const value of row) if (typeof value === "string") left -= Buffer.byteLength(value);
    if (left < 0) return Math.max(index, 1);
  }
  return rows.length;
}

function toCursor(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

function parseCursor(cursor: string, start: Position): Position {
  let position: unknown;
  try {
    position = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch (error) {
    throw malformed(cursor, error);
  }
  const fits =
    Array.isArray(position) &&
    position.length === start.length &&
    start.every((value, i) => typeof value === typeof position[i]);
  if (!fits) throw malformed(cursor);
  return position as Position;
}

function malformed(cursor: string, cause?: unknown): CountersignError {
  return new CountersignError(
    "invalid-cursor",
    `The cursor "${cursor}" does not belong to this list. Start again without a cursor.`,
    { details: { cursor }, cause },
  );
}
