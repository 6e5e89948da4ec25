import { CountersignError } from "../../protocol/index.ts";
import type { Page, PageRequest } from "../ledger/index.ts";

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 1_000;

/** The place of the last item of a page: the next one begins behind it, whatever was inserted meanwhile. */
export type Position = readonly (string | number)[];

export function limitOf({ limit = DEFAULT_LIMIT }: PageRequest = {}): number {
  return Math.min(Math.max(Math.trunc(limit), 1), LARGEST_LIMIT);
}

/** Where a page begins; `start` tells the length and the types of a position. */
export function afterOf<P extends Position>(request: PageRequest | undefined, start: P): P {
  const { cursor } = request ?? {};
  return cursor === undefined ? start : (parseCursor(cursor, start) as P);
}

/** Makes a page of what was found: one item more than asked for means that there is a next page. */
export function toPage<T>(found: readonly T[], limit: number, position: (item: T) => Position): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length <= limit || last === undefined ? { items } : { items, next: toCursor(position(last)) };
}

export function toCursor(position: Position): string {
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
    `The cursor "${cursor}" is not one that this list gave out; start again without a cursor.`,
    { details: { cursor }, cause },
  );
}
