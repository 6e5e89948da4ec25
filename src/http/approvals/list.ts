import {
  type Confirmation,
  type ConfirmationFilter,
  type ConfirmationWithCall,
  isRequester,
  type Ledger,
  type Page,
  type Principal,
  type ShownStatus,
  searchableWords,
  wordsOf,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { STATUSES } from "../schemas/confirmation.ts";
import type { ListQuery } from "../schemas/queries.ts";
import { maySee, rightsHere, show } from "./visibility.ts";

const DEFAULT_LIMIT = 50;
// How often one request asks the ledger: where few rows are for this viewer, a page is short and has a next one.
const MOST_READS = 20;

type Leg = ConfirmationFilter["state"];
type Wanted = (item: ConfirmationWithCall) => boolean;

/**
 * What somebody may see of the confirmations, a page at a time. What waits comes with the nearest deadline first,
 * then what is closed, newest first.
 */
export async function list(
  ledger: Pick<Ledger, "confirmations" | "load">,
  query: ListQuery,
  principal: Principal,
): Promise<Page<Confirmation>> {
  const statuses = readStatuses(query.status);
  const legs = legsOf(statuses);
  const filter = await toFilter(ledger, query, statuses);
  const wanted = toWanted(query, principal);
  const limit = query.limit ?? DEFAULT_LIMIT;
  const items: Confirmation[] = [];
  let at: Position | undefined = readCursor(query.cursor, legs);
  for (let reads = 0; at !== undefined && items.length < limit && reads < MOST_READS; reads += 1) {
    const page: Page<ConfirmationWithCall> = await ledger.confirmations(
      { ...filter, state: at.leg, ...(at.leg === "open" ? wordsIn(query) : {}) },
      // Never more than still fit, so that the ledger's own cursor is where the next page begins.
      { limit: limit - items.length, ...(at.cursor === undefined ? {} : { cursor: at.cursor }) },
    );
    for (const item of page.items) if (wanted(item)) items.push(show(item, principal));
    at = page.next === undefined ? nextLeg(at.leg, legs) : { leg: at.leg, cursor: page.next };
  }
  return at === undefined ? { items } : { items, next: toCursor(at) };
}

interface Position {
  readonly leg: Leg;
  readonly cursor?: string;
}

function readStatuses(given: ListQuery["status"]): readonly ShownStatus[] {
  const words = (typeof given === "string" ? [given] : (given ?? []))
    .flatMap((text) => text.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "");
  if (words.includes("all")) return STATUSES;
  const known = STATUSES.filter((status) => words.includes(status));
  const stranger = words.find((word) => !STATUSES.some((status) => status === word));
  if (stranger !== undefined) {
    throw new CountersignError("malformed-request", `"${stranger}" in \`status\` is no status.`, {
      details: { field: "status", hint: `Possible: all, ${STATUSES.join(", ")}.` },
    });
  }
  return known.length === 0 ? ["requested"] : known;
}

function legsOf(statuses: readonly ShownStatus[]): readonly Leg[] {
  const open = statuses.includes("requested");
  const closed = statuses.some((status) => status !== "requested");
  return [...(open ? (["open"] as const) : []), ...(closed ? (["closed"] as const) : [])];
}

function nextLeg(leg: Leg, legs: readonly Leg[]): Position | undefined {
  const next = legs[legs.indexOf(leg) + 1];
  return next === undefined ? undefined : { leg: next };
}

async function toFilter(
  ledger: Pick<Ledger, "load">,
  { app, agent, tool, user, session, turn }: ListQuery,
  statuses: readonly ShownStatus[],
): Promise<Omit<ConfirmationFilter, "state">> {
  const named =
    app === undefined || user === undefined || session === undefined
      ? undefined
      : await ledger.load({ session: { app, user, id: session } });
  return {
    ...(app === undefined ? {} : { app }),
    ...(agent === undefined ? {} : { agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(user === undefined ? {} : { user }),
    ...(turn === undefined ? {} : { turn }),
    ...(named === undefined ? {} : { session: named.session.key }),
    ...(statuses.length === STATUSES.length ? {} : { status: statuses }),
  };
}

// What the ledger cannot compare: whose it is, and what the session calls itself.
function toWanted({ session, mine, q }: ListQuery, principal: Principal): Wanted {
  const asked = wordsOf(q ?? "");
  return (item) => {
    const { confirmation, call } = item;
    if (!maySee(confirmation, principal)) return false;
    if (session !== undefined && item.session.id !== session) return false;
    if (mine === "true" && !isRequester(confirmation, principal)) return false;
    if (mine === "decidable" && !rightsHere(item, principal).decide) return false;
    if (asked.length === 0 || confirmation.status === "requested") return true;
    const words = searchableWords(confirmation, call);
    return asked.every((prefix) => words.some((word) => word.startsWith(prefix)));
  };
}

function wordsIn({ q }: ListQuery): Pick<ConfirmationFilter, "words"> {
  return q === undefined || wordsOf(q).length === 0 ? {} : { words: q };
}

function toCursor({ leg, cursor = "" }: Position): string {
  return `${leg}.${cursor}`;
}

function readCursor(cursor: string | undefined, legs: readonly Leg[]): Position | undefined {
  const [first] = legs;
  if (cursor === undefined) return first === undefined ? undefined : { leg: first };
  const dot = cursor.indexOf(".");
  const leg = legs.find((name) => name === cursor.slice(0, dot));
  if (leg === undefined) {
    throw new CountersignError("malformed-request", "The cursor is not one that this list gave out.", {
      details: { field: "cursor", hint: "Start again without a cursor." },
    });
  }
  const rest = cursor.slice(dot + 1);
  return rest === "" ? { leg } : { leg, cursor: rest };
}
