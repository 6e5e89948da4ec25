import type { Claim, MessageBook, Principal, SentMessages } from "../engine/index.ts";
import { ASKING, asks } from "./asks.ts";
import { isAwaited } from "./awaited.ts";
import type { Notice, Told } from "./channel.ts";
import { type Digest, type DigestLedger, digestFor, isInDigest, tellInDigest } from "./digest.ts";
import { BEING_SENT, type Failure, OUT_OF_TIME, type Sent } from "./failures.ts";
import { mutedAmong, withHeld } from "./routing.ts";
import { subjectOf } from "./subject.ts";

/** The places where a channel reaches people: mailboxes, devices. */
export interface Recipients {
  /** All that are known. */
  readonly all: readonly string[];
  /** Those of the people whom the rule asks. */
  readonly asked: readonly string[];
  /** Those who are told of calls that nobody was asked about. */
  readonly operators: readonly string[];
}

/** One notice, and how it is sent to one place. */
export interface Telling {
  /** Where people's own settings are, and what waits for them. */
  readonly ledger: DigestLedger;
  /** The channel's name. */
  readonly channel: string;
  readonly book: MessageBook;
  readonly notice: Notice;
  readonly signal: AbortSignal;
  readonly recipients: Recipients;
  /** Whose it is. */
  readonly personOf: (target: string) => Principal | undefined;
  /** Sends it. `isFirst`: nothing about this subject was sent there before. */
  readonly send: (target: string, place: { readonly isFirst: boolean }) => Promise<Sent>;
  /** Sends one message about all that waits for somebody, in the place of many. Without it, there are no digests. */
  readonly sendDigest?: (target: string, digest: Digest) => Promise<Sent>;
  /** To how many it is sent at a time. Default: 1. */
  readonly atOnce?: number;
}

/**
 * Sends a notice once to everyone whom it concerns: questions to those whom the rule asks, what became of them to those
 * who were asked. People whose own settings say so are told of a question later, or not at all. What may have arrived is sent again in the same words, so that the medium can drop it.
 */
export async function tellPeople(telling: Telling): Promise<Told> {
  const { book, notice, signal, personOf, atOnce = 1 } = telling;
  const { to = {} } = (await book.read(book.keyOf(subjectOf(notice.about)))) ?? {};
  const failures: Failure[] = [];
  const concerned = targetsOf(telling, to);
  const muted = await mutedAmong(
    telling,
    notice,
    concerned.flatMap((target) => personOf(target) ?? []),
  );
  const heard = concerned.filter((target) => !muted.ids.has(personOf(target)?.id ?? ""));
  const targets = inTurn(heard, notice, to).values();
  const tellInTurn = async (): Promise<void> => {
    // The iterator is shared: each target is taken once.
    for (const target of targets) {
      const due = isBegun(notice, target, to) ? undefined : muted.late.get(personOf(target)?.id ?? "");
      const told = signal.aborted ? OUT_OF_TIME : await tellNow(telling, target, due);
      if (!told.ok) failures.push(told);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, tellInTurn));
  return withHeld(failures, muted.held);
}

/** Whom the notice concerns. What became of a question concerns those who were asked and are still known. */
function targetsOf({ recipients, notice, personOf }: Telling, to: SentMessages["to"]): readonly string[] {
  const { about, type } = notice;
  const { all, asked, operators } = recipients;
  if (!("id" in about)) return operators;
  if (!ASKING.has(type)) return all.filter((target) => to[target] !== undefined || isInDigest(target, to));
  // A question that is over asks nobody; another notice says how it ended.
  if (!asks(notice)) return [];
  if (type !== "confirmation.reminded") return asked;
  return asked.filter((target) => {
    const person = personOf(target);
    return person === undefined || isAwaited(about, person, notice);
  });
}

/** Those whose last attempt is longest ago come first, so that a slow one does not keep the others waiting for ever. */
function inTurn(targets: readonly string[], notice: Notice, to: SentMessages["to"]): readonly string[] {
  const triedAt = (target: string): number => (to[`${target} ${notice.id}`] ?? to[target])?.at ?? 0;
  return targets.toSorted((one, other) => triedAt(one) - triedAt(other));
}

/** Was the message of this notice to this target sent, or begun? */
function isBegun({ id, type }: Notice, target: string, to: SentMessages["to"]): boolean {
  const first = to[target];
  if (type === "confirmation.requested") return first !== undefined;
  return first?.notice === id || to[`${target} ${id}`] !== undefined;
}

/** By a digest, if it was held back and more waits; by itself otherwise, and where the digest is refused for good. */
async function tellNow(telling: Telling, target: string, due: number | undefined): Promise<Told> {
  const { book, notice, personOf, sendDigest } = telling;
  const person = personOf(target);
  const isDigested = due !== undefined && person !== undefined && sendDigest !== undefined;
  const digest = isDigested ? await digestFor(telling, notice, { person, due }) : undefined;
  if (digest === undefined || person === undefined || sendDigest === undefined)
    return tellOnce(telling, target, due !== undefined);
  const { subject } = digest;
  const named = { name: `${target} ${subject}`, person: person.id };
  const told = await tellInDigest(book, notice, named, async () => {
    const claim = await book.claim(subject, target, { person: person.id });
    return sendClaimed(book, { subject, target, claim }, () => sendDigest(target, digest));
  });
  // What one question says must not silence the others.
  return !told.ok && told.final ? tellOnce(telling, target, true) : told;
}

async function tellOnce(telling: Telling, to: string, isLate: boolean): Promise<Told> {
  const { book, notice, send } = telling;
  const subject = subjectOf(notice.about);
  const { claim, target, isFirst } = await claimMessage(telling, to, isLate);
  const sent = await sendClaimed(book, { subject, target, claim }, () => send(to, { isFirst }));
  if (sent.ok) return sent;
  const { isUnsure: _isUnsure, ...failure } = sent;
  return failure;
}

interface Claimed {
  readonly subject: string;
  readonly target: string;
  readonly claim: Claim;
}

/** Sends what was claimed, if there is something to send, and notes what became of it. */
async function sendClaimed(
  book: MessageBook,
  { subject, target, claim }: Claimed,
  send: () => Promise<Sent>,
): Promise<Sent> {
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "wait") return { ...BEING_SENT, isUnsure: true };
  const sent = await send();
  if (sent.ok) {
    await book.note(subject, target, { claimed: claim.message, as: { ...claim.message, state: "sent" } });
    return sent;
  }
  // What an earlier attempt may have sent is not unsent by this one.
  const isUnsure = sent.isUnsure || claim.next === "look";
  await book.note(subject, target, {
    claimed: claim.message,
    as: isUnsure ? { ...claim.message, state: "unsure" } : "not sent",
    because: sent.reason,
  });
  return { ...sent, isUnsure };
}

/** Claims the message for this notice. Somebody who has a message already is not asked again. */
async function claimMessage(
  { book, notice, personOf }: Telling,
  target: string,
  isLate: boolean,
): ReturnType<MessageBook["claimInThread"]> {
  const { about, type, id } = notice;
  const subject = subjectOf(about);
  const person = personOf(target)?.id;
  // Several reminders that were held back are one, and none where the question itself was held back.
  const unlessSince = isLate && type === "confirmation.reminded" ? notice.at : undefined;
  if (type !== "confirmation.requested")
    return book.claimInThread(subject, target, { notice: id, person, unlessSince });
  const claim = await book.claim(subject, target, person === undefined ? {} : { person });
  return { claim, target, isFirst: true };
}
