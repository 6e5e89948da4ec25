import { setImmediate } from "node:timers/promises";
import type { ListRequest } from "../../engine/index.ts";
import { bothOf } from "../sql/confirmation-rows.ts";
import type { Position } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { walkShown } from "../sql/viewer-walk.ts";
import type { Conditions } from "./confirmation-filter.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";

const PLACES = {
  open:
    "select deadline, confirmation from inbox where facet = 'viewer' and value = ? " +
    "and (deadline, confirmation) > (?, ?) order by deadline, confirmation limit ?",
  closed:
    "select confirmation from viewers where viewer = ? and confirmation < ? order by confirmation desc limit ?",
} as const;
const STATUS = { open: "= 'requested'", closed: "<> 'requested'" } as const;

// How many are looked through at a time where not all of them fit: about a millisecond.
const WINDOW = 500;

/** What to look for among what is shown to somebody. */
export interface ShownLook {
  readonly state: "open" | "closed";
  readonly viewers: readonly string[];
  readonly conditions: Conditions;
  /** Joined to the confirmation `c`. */
  readonly beside?: string;
  readonly request: ListRequest | undefined;
  readonly after: Position;
  readonly wanted: number;
}

/** Those that are shown to one of the viewers, and fit, in the order of the list. Others get their turn meanwhile. */
export function readShown(database: Database, look: ShownLook): Promise<readonly Row[]> {
  const { state, conditions, beside = "", request, after, wanted } = look;
  const sql =
    `select ${bothOf(request)} from json_each(?) wanted cross join confirmations c on c.id = wanted.value ` +
    `${beside}${CALL_AND_SESSION}where c.status ${STATUS[state]}${conditions.sql} order by wanted.key limit ?`;
  return walkShown(
    {
      places: async (place, limit) => {
        await setImmediate();
        return database.read(() => placesOf(database, look, { place, limit }));
      },
      rows: (ids, limit) =>
        database.read(() => database.all(sql, [JSON.stringify(ids), ...conditions.values, limit])),
    },
    { after, wanted, window: Math.max(wanted, state === "open" && conditions.sql === "" ? 0 : WINDOW) },
  );
}

/** The first of everyone's next ones: who looks as several has some of them more than once. */
function placesOf(
  database: Database,
  { state, viewers }: ShownLook,
  { place, limit }: { readonly place: Position; readonly limit: number },
): readonly Position[] {
  const all = new Map<string, Position>();
  for (const viewer of viewers) {
    for (const row of database.all(PLACES[state], [viewer, ...place, limit])) {
      const found = row as Position;
      all.set(found.at(-1) as string, found);
    }
  }
  const sign = state === "open" ? 1 : -1;
  return [...all.values()].sort((a, b) => sign * compare(a, b)).slice(0, limit);
}

function compare(a: Position, b: Position): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    const order =
      typeof left === "number" && typeof right === "number"
        ? left - right
        : Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
    if (order !== 0) return order;
  }
  return 0;
}
