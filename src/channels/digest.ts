import { createHash } from "node:crypto";
import {
  type Confirmation,
  type Ledger,
  type MessageBook,
  type Principal,
  type SentMessages,
  toConfirmation,
  viewsAs,
} from "../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../protocol/index.ts";
import type { Notice, Told } from "./channel.ts";
import { BEING_SENT, type Sent } from "./failures.ts";
import { isFor } from "./notices.ts";
import { isAsked } from "./people.ts";
import { subjectOf } from "./subject.ts";

const KIND = "notification-digest";
const SUBJECT = "digest ";
const KEY_LENGTH = 32;
const KEPT_MS = 7 * 24 * 3_600_000;
const MOST_QUESTIONS = 500;
const PAGE = 100;

/** What channels with digests read. */
export type DigestLedger = Pick<Ledger, "items" | "now" | "confirmations" | "loadAll">;

/** One message to one person about all that waits for them. */
export interface Digest {
  /** What its message is about, for the message book. */
  readonly subject: string;
  /** The questions that it is in the place of, oldest first. */
  readonly questions: readonly string[];
  /** Whether its reader is still asked: the list was made when the first notice came. */
  readonly asks?: (about: Confirmation) => boolean;
}

/** Who is told late, and when what was held back for them was due. */
export interface ToldLate {
  readonly person: Principal;
  readonly due: number;
}

/**
 * The digest that a notice goes into, for somebody who is told late. Which questions are in it is stored by the first
 * notice that comes, so that all processes send the same one, once. Undefined: nothing else waits for this person, or the
 * question is not in it; then it is told by itself.
 */
export async function digestFor(
  { ledger, channel }: { readonly ledger: DigestLedger; readonly channel: string },
  notice: Notice,
  { person, due }: ToldLate,
): Promise<Digest | undefined> {
  const { about, known } = notice;
  if (!("id" in about)) return undefined;
  const id = createHash("sha256")
    .update(JSON.stringify([channel, person.id, due]))
    .digest("hex")
    .slice(0, KEY_LENGTH);
  let questions = await storedQuestions(ledger, id);
  if (questions === undefined) {
    const waiting = await waitingFor({ ledger, channel }, { person, due }, known);
    if (waiting.length < 2) return undefined;
    const item = { kind: KIND, id, value: { questions: waiting }, expiresAt: ledger.now + KEPT_MS };
    // Refused: another notice was first.
    questions = (await ledger.items.put(item, 0)) ? waiting : await storedQuestions(ledger, id);
  }
  if (questions?.includes(about.id) !== true) return undefined;
  return { subject: `${SUBJECT}${id}`, questions, asks: (one) => isAsked(one, person, known) };
}

async function storedQuestions(
  { items }: Pick<DigestLedger, "items">,
  id: string,
): Promise<readonly string[] | undefined> {
  const value: JsonValue = (await items.get(KIND, id))?.value ?? null;
  const questions = isJsonObject(value) ? value["questions"] : undefined;
  return questions !== undefined && isJsonArray(questions) ? questions.map(String) : undefined;
}

/** The open questions from before then that ask this person in this channel, oldest first. */
async function waitingFor(
  { ledger, channel }: { readonly ledger: DigestLedger; readonly channel: string },
  { person, due }: ToldLate,
  known: Notice["known"],
): Promise<readonly string[]> {
  const viewers = viewsAs(person, known?.directory);
  const waiting: Confirmation[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.confirmations(
      { state: "open", viewers },
      { limit: PAGE, preview: true, ...(cursor === undefined ? {} : { cursor }) },
    );
    const asked = page.items
      .map((item) => toConfirmation(item))
      .filter(
        (about) =>
          about.status === "requested" &&
          Date.parse(about.requestedAt) < due &&
          isFor({ about, type: "confirmation.requested" }, { name: channel }) &&
          isAsked(about, person, known),
      );
    waiting.push(...asked);
    cursor = page.next;
  } while (cursor !== undefined && waiting.length < MOST_QUESTIONS);
  return waiting
    .toSorted((one, other) => Date.parse(one.requestedAt) - Date.parse(other.requestedAt))
    .slice(0, MOST_QUESTIONS)
    .map(({ id }) => id);
}

/** The digest of this subject; undefined if it is too old to be known. */
export async function findDigest(
  ledger: Pick<DigestLedger, "items">,
  subject: string,
): Promise<Digest | undefined> {
  const questions = await storedQuestions(ledger, subject.slice(SUBJECT.length));
  return questions && { subject, questions };
}

/** The questions of a digest as they are now, all at one moment. The revision increases with every change of one. */
export async function readQuestions(
  ledger: Pick<DigestLedger, "loadAll">,
  { questions }: Digest,
): Promise<{ readonly revision: number; readonly all: readonly Confirmation[] }> {
  const all: Confirmation[] = [];
  let revision = 0;
  for (const snapshot of await ledger.loadAll(questions.map((confirmation) => ({ confirmation })))) {
    const { confirmation, call, session } = snapshot ?? {};
    if (confirmation === undefined || call === undefined || session === undefined) continue;
    all.push(toConfirmation({ confirmation, call, session }));
    revision += session.version;
  }
  return { revision, all };
}

/** Those questions of a digest that still wait, and still ask its reader, as they are now. */
export async function stillWaiting(
  ledger: Pick<DigestLedger, "loadAll">,
  digest: Digest,
): Promise<readonly Confirmation[]> {
  const { all } = await readQuestions(ledger, digest);
  return all.filter((about) => about.status === "requested" && digest.asks?.(about) !== false);
}

/**
 * Tells somebody of a question by a digest. That is noted with the question before and after: however soon it is
 * decided, they are told how it ended.
 */
export async function tellInDigest(
  book: MessageBook,
  { about }: Notice,
  { name, person }: { readonly name: string; readonly person: string },
  tell: () => Promise<Sent>,
): Promise<Told> {
  const subject = subjectOf(about);
  const claim = await book.claim(subject, name, { person });
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "wait") return BEING_SENT;
  const { message: claimed } = claim;
  const told = await tell();
  if (told.ok) {
    await book.note(subject, name, { claimed, as: { ...claimed, state: "sent" } });
    return told;
  }
  const { isUnsure, ...failure } = told;
  await book.note(subject, name, {
    claimed,
    as: isUnsure ? { ...claimed, state: "unsure" } : "not sent",
    // It is told by itself instead.
    ...(failure.final === true ? {} : { because: failure.reason }),
  });
  return failure;
}

/** Was somebody told of the question by a digest? By the names of the messages that were sent about it. */
export function isInDigest(target: string, to: SentMessages["to"]): boolean {
  return Object.keys(to).some((name) => name.startsWith(`${target} ${SUBJECT}`));
}

/** How many wait, in words. */
export function digestTitle(count: number): string {
  return count === 1 ? "A call waits for your decision" : `${count} calls wait for your decision`;
}
