import type { ConfirmationWithCall, ListRequest } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, list } from "./columns.ts";
import { cutColumns, WAS_CUT } from "./cut-columns.ts";
import type { Paging, Position } from "./pages.ts";
import type { Row } from "./row.ts";
import { NO_DEADLINE, toCall, toConfirmation } from "./rows.ts";

/** What {@link toBoth} reads, of a confirmation `c`, its call `k` and its session `s`. */
const WHOLE = `${list(CONFIRMATION_COLUMNS, "c")}, ${list(CALL_COLUMNS, "k")}, s.id, 0`;
const PREVIEW =
  `${cutColumns(CONFIRMATION_COLUMNS, "c")}, ${cutColumns(CALL_COLUMNS, "k")}, s.id, ` +
  `case when ${WAS_CUT.confirmation} or ${WAS_CUT.call} then 1 else 0 end`;

export function bothOf(request: ListRequest | undefined): string {
  return request?.preview === true ? PREVIEW : WHOLE;
}

/** Sorts after every id. */
export const PAST_ALL_IDS = "\u{10ffff}";

/** Nearest deadline first, then those that have none. */
export const BY_DEADLINE: Omit<Paging<ConfirmationWithCall>, "request"> = {
  start: [Number.MIN_SAFE_INTEGER, ""],
  item: toBoth,
  position: ({ confirmation: { expiresAt, id } }): Position => [expiresAt ?? NO_DEADLINE, id],
};

export const NEWEST_FIRST: Omit<Paging<ConfirmationWithCall>, "request"> = {
  start: [PAST_ALL_IDS],
  item: toBoth,
  position: ({ confirmation }): Position => [confirmation.id],
};

const AFTER_BOTH = CONFIRMATION_COLUMNS.length + CALL_COLUMNS.length;

function toBoth(row: Row): ConfirmationWithCall {
  return {
    confirmation: toConfirmation(row),
    call: toCall(row, CONFIRMATION_COLUMNS.length),
    session: { id: row[AFTER_BOTH] as string },
    ...(row[AFTER_BOTH + 1] === 1 ? { truncated: true } : {}),
  };
}
