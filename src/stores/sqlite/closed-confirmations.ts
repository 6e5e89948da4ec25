import { setImmediate } from "node:timers/promises";
import type {
  ConfirmationFilter,
  ConfirmationWithCall,
  ListRequest,
  Page,
  ShownStatus,
} from "../../engine/index.ts";
import { bothOf, NEWEST_FIRST } from "../sql/confirmation-rows.ts";
import { askedFor, readPage, toPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { type Conditions, type Narrowing, narrow, ofStatus } from "./confirmation-filter.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { readShown } from "./shown-confirmations.ts";

const CLOSED = `from confirmations c ${CALL_AND_SESSION}where c.status <> 'requested' and c.id < ?`;
const IN_WINDOW = " and c.id >= ?";
const OF_SESSION =
  `from confirmations c indexed by confirmations_session ${CALL_AND_SESSION}` +
  "where c.status <> 'requested' and c.id < ?";
const ORDER = " order by c.id desc limit ?";
const WINDOW_END = "select id from confirmations where id < ? order by id desc limit 1 offset ?";

// An index holds the calls that are in such a status; the questions about one are among its session's.
const UNDER_WAY = (status: string): string =>
  `from calls k indexed by calls_${status} ` +
  "cross join confirmations c indexed by confirmations_session on c.session = k.session and c.call = k.id " +
  `cross join sessions s on s.key = c.session where k.status = '${status}' and c.status = 'approved' and c.id < ?`;
const UNDER_WAY_SQL: { readonly [status in ShownStatus]?: string } = {
  executing: UNDER_WAY("executing"),
  unknown: UNDER_WAY("unknown"),
};

// How many confirmations are looked through at a time: about a millisecond.
const WINDOW = 1_000;

/** What was answered or withdrawn, newest first. */
export async function listClosed(
  database: Database,
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const narrowing = await database.read(() => narrow(database, filter));
  const paging = { ...NEWEST_FIRST, request };
  const columns = bothOf(request);
  const wanted = filter.status?.filter((status) => status !== "requested");
  if (narrowing === undefined || wanted?.length === 0) return readPage(paging, () => []);
  const statements = wanted?.map((status) => UNDER_WAY_SQL[status]);
  if (statements?.every((sql) => sql !== undefined)) {
    return database.read(() =>
      readPage(paging, (after, limit) =>
        readUnderWay(
          database,
          statements.map((sql) => `select ${columns} ${sql}`),
          { narrowing, after, limit },
        ),
      ),
    );
  }
  if (narrowing.session !== undefined) {
    const { sql, values } = both(narrowing.all, ofStatus(wanted));
    return database.read(() =>
      readPage(paging, (after, limit) =>
        database.all(`select ${columns} ${OF_SESSION}${sql}${ORDER}`, [...after, ...values, limit]),
      ),
    );
  }
  const { after, wanted: limit } = askedFor(paging);
  const conditions = both(narrowing.facets, ofStatus(wanted));
  const { viewers } = filter;
  const found =
    viewers === undefined
      ? await walk(database, conditions, { columns, before: after[0] as string, limit })
      : await readShown(database, { state: "closed", viewers, conditions, request, after, wanted: limit });
  return toPage(paging, found, limit);
}

/** As many as run at this moment, or wait to be settled. */
function readUnderWay(
  database: Database,
  statements: readonly string[],
  {
    narrowing,
    after,
    limit,
  }: { readonly narrowing: Narrowing; readonly after: readonly (string | number)[]; readonly limit: number },
): readonly Row[] {
  const { sql, values } = narrowing.all;
  return statements
    .flatMap((statement) => database.all(statement + sql + ORDER, [...after, ...values, limit]))
    .sort(([a], [b]) => (String(a) < String(b) ? 1 : -1))
    .slice(0, limit);
}

/**
 * History has no index of its own, which every decision would have to write; it is looked through in windows, and
 * others get their turn between two of them.
 */
async function walk(
  database: Database,
  { sql, values }: Conditions,
  range: { readonly columns: string; readonly before: string; readonly limit: number },
): Promise<readonly Row[]> {
  const found: Row[] = [];
  let { before } = range;
  for (;;) {
    const end = await database.read(() => {
      const last = database.get(WINDOW_END, [before, WINDOW - 1])?.[0];
      const left = range.limit - found.length;
      const text = `select ${range.columns} ${CLOSED}${IN_WINDOW}${sql}${ORDER}`;
      found.push(...database.all(text, [before, last ?? "", ...values, left]));
      return last;
    });
    if (end === undefined || found.length === range.limit) return found;
    before = end as string;
    await setImmediate();
  }
}

function both(a: Conditions, b: Conditions): Conditions {
  return { sql: a.sql + b.sql, values: [...a.values, ...b.values] };
}
