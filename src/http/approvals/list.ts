import {
  type Confirmation,
  type ConfirmationFilter,
  type ConfirmationWithCall,
  type Counting,
  decidingVote,
  type Ledger,
  type Lists,
  looksAsRequester,
  type Page,
  type Principal,
  type ShownStatus,
  searchableWords,
  wordsOf,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type CursorUse, openCursor, sealCursor } from "../cursors.ts";
import { STATUSES } from "../schemas/confirmation.ts";
import type { ListQuery } from "../schemas/queries.ts";
import type { Site } from "../site.ts";
import { decidersViews, maySee, show, viewersFor } from "./visibility.ts";

const DEFAULT_LIMIT = 50;
// How often one request queries the ledger. If few rows match, the page is short and has a `next`.
const MOST_READS = 20;
const MOST_BYTES = 1_000_000;

type Leg = ConfirmationFilter["state"];
type Wanted = (item: ConfirmationWithCall) => boolean;

/** Who reads, and where. */
export interface Reading {
  readonly principal: Principal;
  readonly site: Pick<Site, "ledger" | "counting" | "countings">;
  /** Where the rows are read; who may see them is judged on the ledger. Default: the ledger. */
  readonly lists?: Lists;
}

/**
 * The confirmations that somebody may see, page by page, with long values truncated. Open ones first, nearest deadline
 * first; then closed ones, newest first. The ledger's query returns only what they may see, so that neither a page nor
 * its cursor reveals anything else.
 */
export async function list(reading: Reading, query: ListQuery): Promise<Page<Confirmation>> {
  const { site, principal } = reading;
  const ledger = await site.ledger();
  const { lists = ledger } = reading;
  const statuses = readStatuses(query.status);
  const legs = legsOf(statuses);
  const known = once(site);
  const views = viewersOf(query, principal, await site.countings());
  const filter = { ...(await toFilter(ledger, query, statuses)), ...views };
  const wanted = toWanted(query);
  const use = useOf(query, principal);
  const limit = query.limit ?? DEFAULT_LIMIT;
  const items: Confirmation[] = [];
  let bytes = 0;
  let at = startOf(query.cursor === undefined ? undefined : openCursor(ledger, use, query.cursor), legs);
  for (let reads = 0; at !== undefined && reads < MOST_READS; reads += 1) {
    if (items.length >= limit || bytes >= MOST_BYTES) break;
    const words = at.leg === "open" ? wordsIn(query) : {};
    // Never more than still fit, so that the ledger's own cursor is the start of the next page.
    const page = await readFrom(lists, { ...filter, ...words }, at, limit - items.length);
    const shown = await Promise.all(
      page.items.filter(wanted).map(async (item) => {
        const counting = await known(item.confirmation.app);
        // The policy of another app may take two logins for one person.
        return maySee(item.confirmation, principal, counting) ? [show(item, principal, counting)] : [];
      }),
    );
    for (const item of shown.flat().filter(({ can }) => query.mine !== "decidable" || can.decide)) {
      bytes += JSON.stringify(item).length;
      items.push(item);
    }
    at = page.next === undefined ? nextLeg(at.leg, legs) : { leg: at.leg, cursor: page.next };
  }
  return at === undefined ? { items } : { items, next: sealCursor(ledger, use, toPlace(at)) };
}

/** Does it look for words in open questions? The index of words is brought up to date first, which is a write. */
export function searchesOpen(query: ListQuery): boolean {
  return wordsIn(query).words !== undefined && legsOf(readStatuses(query.status)).includes("open");
}

/** Asks for each app once. */
function once(site: Reading["site"]): (app: string) => Promise<Counting> {
  const known = new Map<string, Promise<Counting>>();
  return (app) => {
    const found = known.get(app) ?? site.counting(app);
    known.set(app, found);
    return found;
  };
}

function readFrom(
  lists: Pick<Lists, "confirmations">,
  filter: Omit<ConfirmationFilter, "state">,
  { leg, cursor }: Position,
  limit: number,
): Promise<Page<ConfirmationWithCall>> {
  const request = { preview: true, limit, ...(cursor === undefined ? {} : { cursor }) } as const;
  return lists.confirmations({ ...filter, state: leg }, request);
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
    throw new CountersignError("malformed-request", `"${stranger}" in \`status\` is not a status.`, {
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

/** The reader: an administrator sees everything; with `mine`, only their own. */
function viewersOf(
  { mine }: ListQuery,
  principal: Principal,
  countings: readonly Counting[],
): Pick<ConfirmationFilter, "viewers" | "delegated"> {
  if (mine === "true")
    return { viewers: countings.flatMap(({ directory }) => looksAsRequester(principal, directory)) };
  const all = countings.map((one) =>
    mine === "decidable" ? decidersViews(principal, one) : viewersFor(principal, one),
  );
  return all.some(({ viewers }) => viewers === undefined)
    ? {}
    : {
        viewers: all.flatMap(({ viewers = [] }) => viewers),
        delegated: all.flatMap(({ delegated = [] }) => delegated),
      };
}

async function toFilter(
  ledger: Pick<Ledger, "load">,
  { app, agent, tool, user, session, turn }: ListQuery,
  statuses: readonly ShownStatus[],
): Promise<Omit<ConfirmationFilter, "state" | "viewers">> {
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

// Filters that the ledger does not support; they do not concern visibility.
function toWanted(query: ListQuery): Wanted {
  const { session, q } = query;
  const asked = wordsOf(q ?? "");
  const isWithin = toWithin(query);
  return (item) => {
    const { confirmation, call } = item;
    if (!isWithin(confirmation)) return false;
    if (session !== undefined && item.session.id !== session) return false;
    if (asked.length === 0 || confirmation.status === "requested") return true;
    const words = searchableWords(confirmation, call);
    return asked.every((prefix) => words.some((word) => word.startsWith(prefix)));
  };
}

/** By who decided, and by when it was asked. */
function toWithin({
  decidedBy,
  since,
  until,
}: ListQuery): (one: ConfirmationWithCall["confirmation"]) => boolean {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until);
  return (confirmation) => {
    const { requestedAt } = confirmation;
    if (requestedAt < from || requestedAt >= end) return false;
    return decidedBy === undefined || decidingVote(confirmation)?.by.id === decidedBy;
  };
}

function wordsIn({ q }: ListQuery): Pick<ConfirmationFilter, "words"> {
  return q === undefined || wordsOf(q).length === 0 ? {} : { words: q };
}

/** A cursor is bound to all filters, but not to the page's size and age. */
function useOf(
  { cursor: _cursor, limit: _limit, maxAge: _maxAge, ...rest }: ListQuery,
  principal: Principal,
): CursorUse {
  const filter = Object.fromEntries(
    Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return { list: "/v1/confirmations", principal, filter };
}

function toPlace({ leg, cursor = "" }: Position): string {
  return `${leg}.${cursor}`;
}

function startOf(place: string | undefined, legs: readonly Leg[]): Position | undefined {
  if (place === undefined) return legs[0] === undefined ? undefined : { leg: legs[0] };
  const dot = place.indexOf(".");
  const leg = place.slice(0, dot) === "open" ? "open" : "closed";
  const cursor = place.slice(dot + 1);
  return cursor === "" ? { leg } : { leg, cursor };
}
