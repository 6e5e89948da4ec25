import type { ListRequest } from "../../engine/index.ts";
import { bothOf } from "../sql/confirmation-rows.ts";
import type { Position } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { walkShown } from "../sql/viewer-walk.ts";
import { conditionsOn, type Narrowing, Values } from "./confirmation-filter.ts";
import { WITH_CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";

const STATUS = { open: "= 'requested'", closed: "<> 'requested'" } as const;

// How many are looked through at a time where not all of them fit: some milliseconds.
const WINDOW = 2_000;

/** What to look for among what is shown to somebody. */
export interface ShownLook {
  readonly state: "open" | "closed";
  readonly viewers: readonly string[];
  readonly narrowing: Narrowing;
  /** What else must be true of a confirmation `c` and its call `k`. */
  readonly and?: (values: Values) => string;
  readonly request: ListRequest | undefined;
  readonly after: Position;
  readonly wanted: number;
}

/** Those that are shown to one of the viewers, and fit, in the order of the list. */
export function readShown(database: Database, look: ShownLook): Promise<readonly Row[]> {
  const { state, narrowing, and, after, wanted } = look;
  const allFit = state === "open" && and === undefined && isWide(narrowing);
  return walkShown(
    {
      places: async (place, limit) => {
        const values = new Values();
        const sql = placesOf(look, { place, limit }, values);
        return sql === ""
          ? []
          : (database.all(sql, values.all, { named: false }) as Promise<readonly Position[]>);
      },
      rows: (ids, limit) => {
        const values = new Values();
        const sql = rowsOf(look, { ids, limit }, values);
        return database.all(sql, values.all, { named: false });
      },
    },
    { after, wanted, window: allFit ? wanted : Math.max(wanted, WINDOW) },
  );
}

/** The first of everyone's next ones: who looks as several has some of them more than once. */
function placesOf(
  { state, viewers }: ShownLook,
  { place, limit }: { readonly place: Position; readonly limit: number },
  values: Values,
): string {
  const [first = 0, id = first] = place;
  const [table, columns, order, after] =
    state === "open"
      ? [
          "inbox_viewers",
          "deadline, id",
          "deadline, id",
          `(deadline, id) > (${values.add(first)}::bigint, ${values.add(id)}::text)`,
        ]
      : ["viewers", "id", "id desc", `id < ${values.add(id)}::text`];
  // Each by its own stretch of the index, of which no more is read than the page can need.
  const ofEach = viewers.map(
    (viewer) =>
      `(select ${columns} from countersign.${table} where viewer = ${values.add(viewer)} and ${after} ` +
      `order by ${order} limit ${limit})`,
  );
  if (ofEach.length === 0) return "";
  return `select * from (${ofEach.join(" union ")}) u order by ${order} limit ${limit}`;
}

function rowsOf(
  { state, narrowing, and, request }: ShownLook,
  { ids, limit }: { readonly ids: readonly string[]; readonly limit: number },
  values: Values,
): string {
  const wanted = `unnest(${values.add(ids)}::text[]) with ordinality i (id, place)`;
  const conditions = conditionsOn("c", { ...narrowing, viewers: undefined }, values) + (and?.(values) ?? "");
  return (
    `select ${bothOf(request)} from ${wanted} ${WITH_CALL_AND_SESSION} ` +
    `where c.status ${STATUS[state]}${conditions} order by i.place limit ${limit}`
  );
}

function isWide({ facets, calls }: Narrowing): boolean {
  return facets.length === 0 && calls === undefined;
}
