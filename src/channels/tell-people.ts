import type { MessageBook, SentMessages } from "../engine/index.ts";
import type { Notice, NoticeType, Told } from "./channel.ts";
import { BEING_SENT, combinedFailures, type Failure, OUT_OF_TIME, type Sent } from "./failures.ts";
import { subjectOf } from "./subject.ts";

/** Notices that ask for a decision. */
const ASKING: ReadonlySet<NoticeType> = new Set([
  "confirmation.requested",
  "confirmation.reminded",
  "confirmation.escalated",
]);

/** Does the notice ask for a decision that is still open? */
export function asks({ about, type }: Pick<Notice, "about" | "type">): boolean {
  return ASKING.has(type) && "id" in about && about.status === "requested";
}

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
  readonly book: MessageBook;
  readonly notice: Notice;
  readonly signal: AbortSignal;
  readonly recipients: Recipients;
  /** Whose it is. */
  readonly personOf: (target: string) => string | undefined;
  /** Sends it. `isFirst`: nothing about this subject was sent there before. */
  readonly send: (target: string, place: { readonly isFirst: boolean }) => Promise<Sent>;
  /** To how many it is sent at a time. Default: 1. */
  readonly atOnce?: number;
}

/**
 * Sends a notice once to everyone whom it concerns: questions to those whom the rule asks, what became of them to those
 * who were asked. What may have arrived is sent again in the same words, so that the medium can drop it.
 */
export async function tellPeople(telling: Telling): Promise<Told> {
  const { book, notice, signal, atOnce = 1 } = telling;
  const { to = {} } = (await book.read(book.keyOf(subjectOf(notice.about)))) ?? {};
  const failures: Failure[] = [];
  const targets = inTurn(targetsOf(telling, to), notice, to).values();
  const tellInTurn = async (): Promise<void> => {
    // The iterator is shared: each target is taken once.
    for (const target of targets) {
      const told = signal.aborted ? OUT_OF_TIME : await tellOnce(telling, target);
      if (!told.ok) failures.push(told);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, tellInTurn));
  return combinedFailures(failures);
}

/** Whom the notice concerns. Later ones concern those who were asked and are still known. */
function targetsOf({ recipients, notice }: Telling, to: SentMessages["to"]): readonly string[] {
  const { about, type } = notice;
  const { all, asked, operators } = recipients;
  if (!("id" in about)) return operators;
  const known = all.filter((target) => to[target] !== undefined);
  if (!ASKING.has(type)) return known;
  // A question that is over asks nobody; another notice says how it ended.
  if (!asks(notice)) return [];
  return type === "confirmation.requested" ? asked : [...new Set([...asked, ...known])];
}

/** Those whose last attempt is longest ago come first, so that a slow one does not keep the others waiting for ever. */
function inTurn(targets: readonly string[], notice: Notice, to: SentMessages["to"]): readonly string[] {
  const triedAt = (target: string): number => (to[`${target} ${notice.id}`] ?? to[target])?.at ?? 0;
  return targets.toSorted((one, other) => triedAt(one) - triedAt(other));
}

async function tellOnce(telling: Telling, to: string): Promise<Told> {
  const { book, notice, send } = telling;
  const subject = subjectOf(notice.about);
  const { claim, target, isFirst } = await claimMessage(telling, to);
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "wait") return BEING_SENT;
  const sent = await send(to, { isFirst });
  if (sent.ok) {
    await book.note(subject, target, { claimed: claim.message, as: { ...claim.message, state: "sent" } });
    return sent;
  }
  const { isUnsure, ...failure } = sent;
  // What an earlier attempt may have sent is not unsent by this one.
  const mayHaveArrived = isUnsure || claim.next === "look";
  await book.note(subject, target, {
    claimed: claim.message,
    as: mayHaveArrived ? { ...claim.message, state: "unsure" } : "not sent",
    because: failure.reason,
  });
  return failure;
}

/** Claims the message for this notice. Somebody who has a message already is not asked again. */
async function claimMessage(
  { book, notice, personOf }: Telling,
  target: string,
): ReturnType<MessageBook["claimInThread"]> {
  const { about, type, id } = notice;
  const subject = subjectOf(about);
  const person = personOf(target);
  if (type !== "confirmation.requested") return book.claimInThread(subject, target, { notice: id, person });
  const claim = await book.claim(subject, target, person === undefined ? {} : { person });
  return { claim, target, isFirst: true };
}
