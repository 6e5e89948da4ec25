import type { ConfirmationFilter, ConfirmationWithCall, Page, PageRequest } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, list } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Row, SqlValue } from "./driver.ts";
import { readPage } from "./pages.ts";
import { NO_DEADLINE, toCall, toConfirmation } from "./rows.ts";

const BOTH = `${list(CONFIRMATION_COLUMNS, "c")}, ${list(CALL_COLUMNS, "k")}`;
const OPEN =
  `select ${BOTH} from inbox i cross join confirmations c on c.id = i.confirmation ` +
  "cross join calls k on k.id = c.call " +
  "where i.facet = ? and i.value = ? and (i.deadline, i.confirmation) > (?, ?)";
const OPEN_ORDER = " order by i.deadline, i.confirmation limit ?";
const CLOSED =
  `select ${BOTH} from confirmations c cross join calls k on k.id = c.call ` +
  "where c.status <> 'requested'";
const CLOSED_OF_SESSION = CLOSED.replace(
  "confirmations c",
  "confirmations c indexed by confirmations_session",
);
const CLOSED_ORDER = " and c.id < ? order by c.id desc limit ?";

// Sorts after every id.
const PAST_ALL_IDS = "\u{10ffff}";

/** From the one that leaves the fewest rows: the first that is given leads, the others are compared. */
const FACETS = ["session", "user", "tool", "agent", "app"] as const;

/** Open ones by deadline, from the inbox; the rest from the newest. */
export function listConfirmations(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Page<ConfirmationWithCall> {
  return filter.state === "open"
    ? listOpen(database, filter, request)
    : listClosed(database, filter, request);
}

function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Page<ConfirmationWithCall> {
  const [facet, ...others] = FACETS.filter((name) => filter[name] !== undefined);
  const sql = OPEN + conditions(others) + OPEN_ORDER;
  const lead = [facet ?? "", facet === undefined ? "" : (filter[facet] ?? "")];
  const rest = values(filter, others);
  return readPage({
    request,
    start: [Number.MIN_SAFE_INTEGER, ""],
    rows: (position, limit) => database.all(sql, [...lead, ...position, ...rest, limit]),
    item: toBoth,
    position: ({ confirmation: { expiresAt, id } }) => [expiresAt ?? NO_DEADLINE, id],
  });
}

function listClosed(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Page<ConfirmationWithCall> {
  const facets = FACETS.filter((name) => filter[name] !== undefined);
  const sql = (filter.session === undefined ? CLOSED : CLOSED_OF_SESSION) + conditions(facets) + CLOSED_ORDER;
  const given = values(filter, facets);
  return readPage({
    request,
    start: [PAST_ALL_IDS],
    rows: (position, limit) => database.all(sql, [...given, ...position, limit]),
    item: toBoth,
    position: ({ confirmation }) => [confirmation.id],
  });
}

function conditions(facets: readonly (typeof FACETS)[number][]): string {
  return facets.map((name) => ` and c.${name} = ?`).join("");
}

function values(filter: ConfirmationFilter, facets: readonly (typeof FACETS)[number][]): SqlValue[] {
  return facets.map((name) => filter[name] ?? null);
}

function toBoth(row: Row): ConfirmationWithCall {
  return { confirmation: toConfirmation(row), call: toCall(row, CONFIRMATION_COLUMNS.length) };
}
