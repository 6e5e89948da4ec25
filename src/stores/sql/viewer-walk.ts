import type { Position } from "./pages.ts";
import type { Row } from "./row.ts";

/** How what is shown to somebody is gone through, in the order of a list. */
export interface ViewerWalk {
  /** The next so many places after one; a place ends with the confirmation's id. */
  readonly places: (after: Position, limit: number) => Promise<readonly Position[]>;
  /** Those of these confirmations that fit, in the same order. */
  readonly rows: (ids: readonly string[], limit: number) => Promise<readonly Row[]>;
}

/**
 * Goes through what is shown to somebody, some at a time, until enough of it fits. What is shown to others is never
 * looked at: neither the rows nor the time it takes tell of it.
 */
export async function walkShown(
  { places, rows }: ViewerWalk,
  { after, wanted, window }: { readonly after: Position; readonly wanted: number; readonly window: number },
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let place = after; ; ) {
    const next = await places(place, window);
    const last = next.at(-1);
    if (last === undefined) return found;
    const ids = next.map((each) => each.at(-1) as string);
    found.push(...(await rows(ids, wanted - found.length)));
    if (next.length < window || found.length >= wanted) return found;
    place = last;
  }
}
