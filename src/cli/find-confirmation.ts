import {
  type CallRecord,
  type ConfirmationRecord,
  firstQuestion,
  type Ledger,
  type ListRequest,
  type Snapshot,
} from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";

/** A call, with the question about it where one was asked. */
export type FoundCall = Snapshot & { readonly call: CallRecord };

/** A question, with the call it is about. */
export type FoundConfirmation = FoundCall & { readonly confirmation: ConfirmationRecord };

// With fewer characters, an id could match another question that came meanwhile.
const LEAST_CHARACTERS = 4;
const PAGE = 500;
const MOST_CANDIDATES = 6;
const CLOSED_PAGES = 2;
const SHORT_CHARACTERS = 8;

/** The end of an id, which is random: enough to name a question among those that are open. */
export function shortId(id: string): string {
  return id.slice(-SHORT_CHARACTERS);
}

/**
 * The question with this id, or with an id of which this is an end (or the beginning of the shown end): among the open ones and those whose outcome is unknown,
 * else among the last that were closed. Throws `ambiguous`, with the candidates, where more than one fits.
 */
export async function findConfirmation(ledger: Ledger, given: string): Promise<FoundConfirmation> {
  const found = await findCall(ledger, given);
  if (hasConfirmation(found)) return found;
  throw new CountersignError(
    "unknown-confirmation",
    `The call ${found.call.id} has no confirmation. \`countersign settle\` takes call ids too.`,
  );
}

/**
 * Finds the question to decide. A whole id names any question; a shortened id names only a call's first question, and
 * nothing if it also matches a decided one: it may be a repetition of that decision.
 */
export async function findToDecide(ledger: Ledger, given: string): Promise<FoundConfirmation> {
  const exact = await ledger.load({ confirmation: given.toLowerCase() });
  if (hasCall(exact) && hasConfirmation(exact)) return exact;
  const first = await firstQuestion(ledger, given);
  const found = await findConfirmation(ledger, first?.id ?? (await onlyFit(ledger, given)) ?? given);
  const { id, round } = found.confirmation;
  if (round === 0) return found;
  throw new CountersignError(
    "ambiguous",
    `"${given}" matches a later question of a call that has asked before. Read it with \`countersign show\`, then use its full id: ${id}`,
    { details: { candidates: [id] } },
  );
}

/** The one question, open or closed, that an end of an id fits; undefined if none does, or it is too short. */
async function onlyFit(ledger: Ledger, given: string): Promise<string | undefined> {
  const word = given.toLowerCase();
  if (word.length < LEAST_CHARACTERS) return undefined;
  const fits = new Set([...(await openIds(ledger, word)), ...(await closedIds(ledger, word))]);
  if (fits.size > 1) throw ambiguous(given, [...fits]);
  return [...fits][0];
}

/** The id to type to decide a question: for a call's first question, the end is enough. */
export function idToDecide({ id, round }: ConfirmationRecord): string {
  return round === 0 ? shortId(id) : id;
}

/** Like {@link findConfirmation}; a call without a confirmation is found by its own id. */
export async function findCall(ledger: Ledger, given: string): Promise<FoundCall> {
  const id = given.toLowerCase();
  const exact = (await ledger.load({ confirmation: id })) ?? (await ledger.load({ call: given }));
  if (hasCall(exact)) return exact;
  if (id.length < LEAST_CHARACTERS) {
    throw new CountersignError(
      "malformed-request",
      `"${given}" is too short. Use at least the last ${LEAST_CHARACTERS} characters of the id.`,
    );
  }
  const candidates = new Set([...(await openIds(ledger, id)), ...(await unknownIds(ledger, id))]);
  if (candidates.size === 0) for (const closed of await closedIds(ledger, id)) candidates.add(closed);
  if (candidates.size > 1) throw ambiguous(given, [...candidates]);
  const [only = ""] = candidates;
  const found = (await ledger.load({ confirmation: only })) ?? (await ledger.load({ call: only }));
  if (hasCall(found)) return found;
  throw new CountersignError(
    "unknown-confirmation",
    `There is no confirmation "${given}". \`countersign pending\` lists the open ones.`,
  );
}

async function openIds(ledger: Ledger, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.confirmations({ state: "open" }, pageOf(cursor));
    found.push(...page.items.map(({ confirmation }) => confirmation.id).filter((id) => isMeant(id, word)));
    cursor = page.next;
  } while (cursor !== undefined && found.length < MOST_CANDIDATES);
  return found;
}

async function unknownIds(ledger: Ledger, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.unknownCalls(pageOf(cursor));
    const ids = page.items.map((call) => call.confirmation ?? call.id);
    found.push(...ids.filter((id) => isMeant(id, word)));
    cursor = page.next;
  } while (cursor !== undefined && found.length < MOST_CANDIDATES);
  return found;
}

async function closedIds(ledger: Ledger, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < CLOSED_PAGES; pages++) {
    const page = await ledger.confirmations({ state: "closed" }, pageOf(cursor));
    found.push(...page.items.map(({ confirmation }) => confirmation.id).filter((id) => isMeant(id, word)));
    if (page.next === undefined) break;
    cursor = page.next;
  }
  return found;
}

// The end of the id, or the beginning of what `pending` shows of it: people shorten from either side.
function isMeant(id: string, word: string): boolean {
  return id.endsWith(word) || shortId(id).startsWith(word);
}

// Only the ids are compared.
function pageOf(cursor: string | undefined): ListRequest {
  return { preview: true, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
}

function ambiguous(given: string, candidates: readonly string[]): CountersignError {
  const shown = candidates.slice(0, MOST_CANDIDATES - 1);
  const more = candidates.length > shown.length ? ", …" : "";
  return new CountersignError(
    "ambiguous",
    `"${given}" matches more than one confirmation: ${shown.join(", ")}${more}. Use more characters.`,
    { details: { candidates: shown } },
  );
}

function hasCall(snapshot: Snapshot | undefined): snapshot is FoundCall {
  return snapshot?.call !== undefined;
}

function hasConfirmation(found: FoundCall): found is FoundConfirmation {
  return found.confirmation !== undefined;
}
