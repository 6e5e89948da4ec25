import type { ConfirmationFilter, ConfirmationWithCall, Page, PageRequest } from "../../engine/index.ts";
import { BOTH, BY_DEADLINE } from "../sql/confirmation-rows.ts";
import { conditionsOn, narrow, Values } from "./confirmation-filter.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";

/** From a page `i` of the inbox to everything about its confirmations. */
export const WITH_CALL_AND_SESSION: string =
  "join countersign.confirmations c on c.id = i.id join countersign.calls k on k.id = c.call " +
  "join countersign.sessions s on s.key = c.session";

/** What waits for a person, nearest deadline first. */
export async function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const narrowing = mayBeOpen(filter) ? await narrow(database, filter) : undefined;
  return readPage({ ...BY_DEADLINE, request }, async ([deadline = 0, id = ""], limit) => {
    if (narrowing === undefined) return [];
    const values = new Values();
    const after = `(i.deadline, i.id) > (${values.add(deadline)}::bigint, ${values.add(id)}::text)`;
    // The page first, by the index that has its order; then what belongs to it.
    const page =
      `select i.id, i.deadline from countersign.inbox i where ${after}${conditionsOn("i", narrowing, values)} ` +
      `order by i.deadline, i.id limit ${limit}`;
    const sql = `select ${BOTH} from (${page}) i ${WITH_CALL_AND_SESSION} order by i.deadline, i.id`;
    return database.all(sql, values.all, { named: false });
  });
}

/** Whatever is open is shown as requested. */
export function mayBeOpen({ status }: ConfirmationFilter): boolean {
  return status === undefined || status.includes("requested");
}
