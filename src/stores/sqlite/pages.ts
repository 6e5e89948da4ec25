import type { Page, PageRequest } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Row, SqlValue } from "./driver.ts";

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 1_000;

/** The sort key of the last row of a page: the next one begins after it, whatever was inserted meanwhile. */
type Position = readonly (string | number)[];

/** How to get one page: a statement that starts after `position` and is asked for one row too many. */
export interface PageQuery<T> {
  readonly request: PageRequest | undefined;
  /** Where the first page starts; also tells the length and types of a position. */
  readonly start: Position;
  readonly rows: (position: readonly SqlValue[], limit: number) => readonly Row[];
  readonly item: (row: Row) => T;
  readonly position: (item: T) => Position;
}

export function readPage<T>({ request = {}, start, rows, item, position }: PageQuery<T>): Page<T> {
  const limit = Math.min(Math.max(Math.trunc(request.limit ?? DEFAULT_LIMIT), 1), LARGEST_LIMIT);
  const found = rows(request.cursor === undefined ? start : parseCursor(request.cursor, start), limit + 1);
  const items = found.slice(0, limit).map(item);
  const last = items.at(-1);
  return found.length <= limit || last === undefined ? { items } : { items, next: toCursor(position(last)) };
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
    "malformed-request",
    `The cursor "${cursor}" is not one that this list gave out; start again without a cursor.`,
    { details: { cursor }, cause },
  );
}
