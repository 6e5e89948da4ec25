import type { Confirmation, SentMessage, SentMessages } from "../../engine/index.ts";
import type { Notice, Told } from "../channel.ts";
import {
  type Digest,
  digestFor,
  digestTitle,
  findDigest,
  readQuestions,
  stillWaiting,
  tellInDigest,
} from "../digest.ts";
import { BEING_SENT, type Failure, OUT_OF_TIME, type Sent } from "../failures.ts";
import { isAsked, toChannelPrincipal } from "../people.ts";
import { statusWords } from "../status-words.ts";
import { hintOf, subjectOf } from "../subject.ts";
import { type Block, context, header, oneLine, plain, section, withIds } from "./blocks.ts";
import { OVERTAKEN, type Telling, THREAD, update } from "./messages.ts";
import { personAt, sendOnce } from "./send-once.ts";

const MOST_LISTED = 20;
const MOST_NAME = 100;
const MOST_HINT = 300;
const IN_DIGEST = new RegExp(`^${THREAD}([^:]+):(digest .+)$`);

/** What became of the digests of those who are told late. */
export interface Digested {
  /** Ids of the people whom the digest tells of this question. */
  readonly ids: ReadonlySet<string>;
  readonly failures: readonly Failure[];
}

/** Tells those who are told late by one message about all that waits for them. */
export async function tellDigests(
  telling: Telling,
  targets: readonly string[],
  late: ReadonlyMap<string, number>,
): Promise<Digested> {
  const ids = new Set<string>();
  const failures: Failure[] = [];
  for (const target of targets) {
    const person = telling.settings.people.find(({ slack }) => slack === target);
    const due = person && late.get(person.id);
    if (person === undefined || due === undefined) continue;
    const digest = await digestFor(telling, telling.notice, { person: toChannelPrincipal(person), due });
    if (digest === undefined) continue;
    const told = telling.signal.aborted ? OUT_OF_TIME : await tellDigest(telling, target, digest);
    // What one question says must not silence the others: each has its card then.
    if (!told.ok && told.final) continue;
    ids.add(person.id);
    if (!told.ok) failures.push(told);
  }
  return { ids, failures };
}

async function tellDigest(telling: Telling, target: string, digest: Digest): Promise<Told> {
  const { book, notice } = telling;
  const { subject } = digest;
  const { person = "" } = personAt(telling, target);
  const named = { name: `${THREAD}${target}:${subject}`, person };
  return tellInDigest(book, notice, named, async () => {
    const failure = await sendDigest(telling, target, digest);
    if (failure === undefined) return { ok: true };
    const { to = {} } = (await book.read(book.keyOf(subject))) ?? {};
    return { ...failure, isUnsure: to[target] !== undefined } satisfies Sent;
  });
}

async function sendDigest(telling: Telling, target: string, digest: Digest): Promise<Failure | undefined> {
  const { book, ledger, notice } = telling;
  const { subject } = digest;
  const claim = await book.claim(subject, target, personAt(telling, target));
  if (claim.next === "wait") return BEING_SENT;
  if (claim.next === "nothing") return undefined;
  const waiting = await stillWaiting(ledger, digest);
  const content = digestContent(waiting, notice);
  const isOver = waiting.length === 0;
  const sent = await sendOnce({ ...telling, subject, content }, { target, claim, isOver });
  return sent !== undefined && "ok" in sent ? sent : undefined;
}

/** Shows in the digests that told of a question what became of it. */
export async function renewDigests(telling: Telling, to: SentMessages["to"]): Promise<readonly Failure[]> {
  const { about } = telling.notice;
  if (!("id" in about) || about.status === "requested") return [];
  const failures: Failure[] = [];
  for (const name of Object.keys(to)) {
    const [, target, subject] = IN_DIGEST.exec(name) ?? [];
    if (target === undefined || subject === undefined) continue;
    const renewed = telling.signal.aborted ? OUT_OF_TIME : await renewDigest({ ...telling, subject }, target);
    if (!renewed.ok) failures.push(renewed);
  }
  return failures;
}

async function renewDigest(telling: Telling, target: string): Promise<Told> {
  const { book, ledger, notice, subject } = telling;
  const digest = await findDigest(ledger, subject);
  const message = digest && (await sentDigest(telling, target));
  if (digest === undefined || message === undefined) return { ok: true };
  if ("ok" in message) return message;
  const { revision, all } = await readQuestions(ledger, digest);
  if (!(await book.show(subject, revision))) return OVERTAKEN;
  const content = digestContent(await ofReader(telling, target, all), notice);
  const updated = await update({ ...telling, content }, target, message);
  const { shown = 0 } = (await book.read(book.keyOf(subject))) ?? {};
  return updated.ok && shown > revision ? OVERTAKEN : updated;
}

/** Those that its reader is asked, or was told of: the others were left out when it was sent. */
async function ofReader(
  { book, settings, notice: { known }, subject }: Telling,
  target: string,
  all: readonly Confirmation[],
): Promise<readonly Confirmation[]> {
  const person = settings.people.find(({ slack }) => slack === target);
  const found: Confirmation[] = [];
  for (const about of all) {
    const asked = person !== undefined && isAsked(about, toChannelPrincipal(person), known);
    const { to = {} } = asked ? {} : ((await book.read(book.keyOf(subjectOf(about)))) ?? {});
    if (asked || to[`${THREAD}${target}:${subject}`] !== undefined) found.push(about);
  }
  return found;
}

/** The message of a digest, as it was sent; undefined if it never was. */
async function sentDigest(telling: Telling, target: string): Promise<SentMessage | Failure | undefined> {
  const claim = await telling.book.claim(telling.subject, target, personAt(telling, target));
  if (claim.next === "wait") return BEING_SENT;
  if (claim.next === "nothing") return claim.message;
  // It may have arrived, but must not be sent now.
  return sendOnce(telling, { target, claim, isOver: true });
}

function digestContent(
  questions: readonly Confirmation[],
  notice: Pick<Notice, "linkFor">,
): NonNullable<Telling["content"]> {
  return { text: `${titleOf(questions)}.`, blocks: digestBlocks(questions, notice) };
}

function titleOf(questions: readonly Confirmation[]): string {
  const waiting = questions.filter(({ status }) => status === "requested").length;
  return waiting === 0 ? "None of these calls waits for a decision" : digestTitle(waiting);
}

/** All that waits for somebody, and what became of it, without buttons that decide. */
function digestBlocks(
  questions: readonly Confirmation[],
  { linkFor }: Pick<Notice, "linkFor">,
): readonly Block[] {
  const left = questions.slice(MOST_LISTED).filter(({ status }) => status === "requested").length;
  return withIds("note", [
    header(titleOf(questions)),
    ...questions
      .slice(0, MOST_LISTED)
      .map((about) => ({ ...section(linesOf(about)), ...opening(about, linkFor) })),
    ...(left > 0 ? [context([`${left} more wait in the inbox.`])] : []),
  ]);
}

function linesOf(about: Confirmation): string {
  const { tool, user, expiresAt, status } = about;
  const asked = `Asked by ${oneLine(user, MOST_NAME)}${expiresAt === undefined ? "" : ` · expires ${expiresAt}`}`;
  const facts = status === "requested" ? [oneLine(hintOf(about), MOST_HINT), asked] : [statusWords(about)];
  return [oneLine(tool, MOST_NAME), ...facts].filter((line) => line !== "").join("\n");
}

function opening({ id }: Confirmation, linkFor: Notice["linkFor"]): Block {
  const url = linkFor?.(id);
  if (url === undefined || !/^https?:/.test(url)) return {};
  return { accessory: { type: "button", action_id: "open", text: plain("Open in the inbox"), url } };
}
