import type { ConfirmationFilter, ConfirmationWithCall, ListRequest, Page } from "../../engine/index.ts";
import { BY_DEADLINE, bothOf } from "../sql/confirmation-rows.ts";
import { askedFor, readPage, toPage } from "../sql/pages.ts";
import { narrow } from "./confirmation-filter.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { readShown } from "./shown-confirmations.ts";

const OPEN =
  `from inbox i cross join confirmations c on c.id = i.confirmation ${CALL_AND_SESSION}` +
  "where i.facet = ? and i.value = ? and (i.deadline, i.confirmation) > (?, ?)";
const ORDER = " order by i.deadline, i.confirmation limit ?";

/** What waits for a person, nearest deadline first. */
export async function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const paging = { ...BY_DEADLINE, request };
  const narrowing = await database.read(() => (mayBeOpen(filter) ? narrow(database, filter) : undefined));
  if (narrowing === undefined) return readPage(paging, () => []);
  const { viewers } = filter;
  if (viewers !== undefined && narrowing.session === undefined) {
    const { after, wanted } = askedFor(paging);
    const conditions = narrowing.facets;
    const look = { state: "open", viewers, conditions, request, after, wanted } as const;
    return toPage(paging, await readShown(database, look), wanted);
  }
  const { lead, besideLead } = narrowing;
  const sql = `select ${bothOf(request)} ${OPEN}${besideLead.sql}${ORDER}`;
  return database.read(() =>
    readPage(paging, (after, limit) => database.all(sql, [...lead, ...after, ...besideLead.values, limit])),
  );
}

/** Whatever is open is shown as requested. */
export function mayBeOpen({ status }: ConfirmationFilter): boolean {
  return status === undefined || status.includes("requested");
}
