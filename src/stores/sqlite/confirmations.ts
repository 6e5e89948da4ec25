import { setImmediate } from "node:timers/promises";
import type { ConfirmationFilter, ConfirmationWithCall, Page, PageRequest } from "../../engine/index.ts";
import { CALL_COLUMNS, CONFIRMATION_COLUMNS, list } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Row, SqlValue } from "./driver.ts";
import { askedFor, type Paging, readPage, toPage } from "./pages.ts";
import { NO_DEADLINE, toCall, toConfirmation } from "./rows.ts";

const BOTH = `${list(CONFIRMATION_COLUMNS, "c")}, ${list(CALL_COLUMNS, "k")}, s.id`;
const CALL_AND_SESSION = "cross join calls k on k.id = c.call cross join sessions s on s.key = c.session ";
const OPEN =
  `select ${BOTH} from inbox i cross join confirmations c on c.id = i.confirmation ` +
  CALL_AND_SESSION +
  "where i.facet = ? and i.value = ? and (i.deadline, i.confirmation) > (?, ?)";
const OPEN_ORDER = " order by i.deadline, i.confirmation limit ?";
const CLOSED =
  `select ${BOTH} from confirmations c ${CALL_AND_SESSION}` +
  "where c.status <> 'requested' and c.id < ? and c.id >= ?";
const CLOSED_OF_SESSION =
  `select ${BOTH} from confirmations c indexed by confirmations_session ${CALL_AND_SESSION}` +
  "where c.status <> 'requested' and c.id < ? and c.id >= ?";
const CLOSED_ORDER = " order by c.id desc limit ?";
const WINDOW_END = "select id from confirmations where id < ? order by id desc limit 1 offset ?";

// How many confirmations are looked through at a time: about a millisecond.
const WINDOW = 1_000;

// Sorts after every id.
const PAST_ALL_IDS = "\u{10ffff}";

/** From the one that leaves the fewest rows: the first that is given leads, the others are compared. */
const FACETS = ["session", "user", "tool", "agent", "app"] as const;

/** What waits for a person, nearest deadline first. */
export function listOpen(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Page<ConfirmationWithCall> {
  const [facet, ...others] = FACETS.filter((name) => filter[name] !== undefined);
  const sql = OPEN + conditions(others) + OPEN_ORDER;
  const lead = [facet ?? "", facet === undefined ? "" : (filter[facet] ?? "")];
  const rest = values(filter, others);
  const paging: Paging<ConfirmationWithCall> = {
    request,
    start: [Number.MIN_SAFE_INTEGER, ""],
    item: toBoth,
    position: ({ confirmation: { expiresAt, id } }) => [expiresAt ?? NO_DEADLINE, id],
  };
  return readPage(paging, (after, limit) => database.all(sql, [...lead, ...after, ...rest, limit]));
}

/**
 * What was answered or withdrawn, newest first. History has no index of its own, which every decision would
 * have to write; it is looked through in windows, and others get their turn between two of them.
 */
export async function listClosed(
  database: Database,
  filter: ConfirmationFilter,
  request: PageRequest | undefined,
): Promise<Page<ConfirmationWithCall>> {
  const facets = FACETS.filter((name) => filter[name] !== undefined);
  const ofSession = filter.session !== undefined;
  const sql = (ofSession ? CLOSED_OF_SESSION : CLOSED) + conditions(facets) + CLOSED_ORDER;
  const given = values(filter, facets);
  const paging: Paging<ConfirmationWithCall> = {
    request,
    start: [PAST_ALL_IDS],
    item: toBoth,
    position: ({ confirmation }) => [confirmation.id],
  };
  const { after, wanted } = askedFor(paging);
  const found: Row[] = [];
  let [before] = after as readonly [string];
  for (;;) {
    const end = await database.read(() => {
      const last = ofSession ? undefined : database.get(WINDOW_END, [before, WINDOW - 1])?.[0];
      found.push(...database.all(sql, [before, last ?? "", ...given, wanted - found.length]));
      return last;
    });
    if (end === undefined || found.length === wanted) return toPage(paging, found, wanted);
    before = end as string;
    await setImmediate();
  }
}

function conditions(facets: readonly (typeof FACETS)[number][]): string {
  return facets.map((name) => ` and c.${name} = ?`).join("");
}

function values(filter: ConfirmationFilter, facets: readonly (typeof FACETS)[number][]): SqlValue[] {
  return facets.map((name) => filter[name] ?? null);
}

function toBoth(row: Row): ConfirmationWithCall {
  return {
    confirmation: toConfirmation(row),
    call: toCall(row, CONFIRMATION_COLUMNS.length),
    session: { id: row[CONFIRMATION_COLUMNS.length + CALL_COLUMNS.length] as string },
  };
}
