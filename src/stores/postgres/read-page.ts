import type { Page } from "../../engine/index.ts";
import { askedFor, type Paging, type Position, toPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";

/** Reads a page by a statement that begins after a position and gives at most so many rows. */
export async function readPage<T>(
  paging: Paging<T>,
  rows: (position: Position, limit: number) => Promise<readonly Row[]>,
): Promise<Page<T>> {
  const { after, wanted } = askedFor(paging);
  return toPage(paging, await rows(after, wanted), wanted);
}
