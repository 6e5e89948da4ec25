import type { ConfirmationFilter, ConfirmationWithCall, ListRequest, Page } from "../../engine/index.ts";
import { BY_DEADLINE, bothOf } from "../sql/confirmation-rows.ts";
import type { Position } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import { conditionsOn, isOfOneSession, type Narrowing, narrow, Values } from "./confirmation-filter.ts";
import { WITH_CALL_AND_SESSION } from "./confirmation-joins.ts";
import type { Database } from "./database.ts";
import { readPage } from "./read-page.ts";
import { readShown } from "./shown-confirmations.ts";

/** What waits for a person, nearest deadline first. */
export async function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: ListRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const narrowing = mayBeOpen(filter) ? await narrow(database, filter) : undefined;
  const { viewers } = filter;
  return readPage({ ...BY_DEADLINE, request }, async (after, limit) => {
    if (narrowing === undefined) return [];
    if (viewers !== undefined && !isOfOneSession(narrowing))
      return readShown(database, { state: "open", viewers, narrowing, request, after, wanted: limit });
    return readInbox(database, narrowing, { request, after, limit });
  });
}

function readInbox(
  database: Database,
  narrowing: Narrowing,
  {
    request,
    after: [deadline = 0, id = ""],
    limit,
  }: { readonly request: ListRequest | undefined; readonly after: Position; readonly limit: number },
): Promise<readonly Row[]> {
  const values = new Values();
  const after = `(i.deadline, i.id) > (${values.add(deadline)}::bigint, ${values.add(id)}::text)`;
  // The page first, by the index that has its order; then what belongs to it.
  const page =
    `select i.id, i.deadline from countersign.inbox i where ${after}${conditionsOn("i", narrowing, values)} ` +
    `order by i.deadline, i.id limit ${limit}`;
  const sql = `select ${bothOf(request)} from (${page}) i ${WITH_CALL_AND_SESSION} order by i.deadline, i.id`;
  return database.all(sql, values.all, { named: false });
}

/** Whatever is open is shown as requested. */
export function mayBeOpen({ status }: ConfirmationFilter): boolean {
  return status === undefined || status.includes("requested");
}
