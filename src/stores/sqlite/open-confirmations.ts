import type { ConfirmationFilter, ConfirmationWithCall, Page, PageRequest } from "../../engine/index.ts";
import { BOTH, BY_DEADLINE } from "../sql/confirmation-rows.ts";
import { readPage } from "../sql/pages.ts";
import { narrow } from "./confirmation-filter.ts";
import { CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";

const OPEN =
  `select ${BOTH} from inbox i cross join confirmations c on c.id = i.confirmation ` +
  CALL_AND_SESSION +
  "where i.facet = ? and i.value = ? and (i.deadline, i.confirmation) > (?, ?)";
const ORDER = " order by i.deadline, i.confirmation limit ?";

/** What waits for a person, nearest deadline first. */
export function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Page<ConfirmationWithCall> {
  const narrowing = mayBeOpen(filter) ? narrow(database, filter) : undefined;
  return readPage({ ...BY_DEADLINE, request }, (after, limit) => {
    if (narrowing === undefined) return [];
    const { lead, besideLead } = narrowing;
    return database.all(OPEN + besideLead.sql + ORDER, [...lead, ...after, ...besideLead.values, limit]);
  });
}

/** Whatever is open is shown as requested. */
export function mayBeOpen({ status }: ConfirmationFilter): boolean {
  return status === undefined || status.includes("requested");
}
