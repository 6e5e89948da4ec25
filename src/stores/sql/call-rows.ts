import type { CallRecord, ListRequest } from "../../engine/index.ts";
import { CALL_COLUMNS, list } from "./columns.ts";
import { cutColumns, WAS_CUT } from "./cut-columns.ts";
import type { Paging } from "./pages.ts";
import type { Row } from "./row.ts";
import { toCall } from "./rows.ts";

const WHOLE = `${list(CALL_COLUMNS, "k")}, 0`;
const PREVIEW = `${cutColumns(CALL_COLUMNS, "k")}, case when ${WAS_CUT.call} then 1 else 0 end`;

/** What a list reads of a call `k`. */
export function callOf(request: ListRequest | undefined): string {
  return request?.preview === true ? PREVIEW : WHOLE;
}

/** Oldest first. */
export const BY_CALL: Omit<Paging<CallRecord & { readonly truncated?: true }>, "request"> = {
  start: [""],
  item: toListed,
  position: ({ id }) => [id],
};

function toListed(row: Row): CallRecord & { readonly truncated?: true } {
  const call = toCall(row);
  return row[CALL_COLUMNS.length] === 1 ? { ...call, truncated: true } : call;
}
