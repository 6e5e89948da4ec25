import type { SentMessage } from "../../engine/index.ts";
import { ASKING, asks } from "../asks.ts";
import { isAwaited } from "../awaited.ts";
import type { Notice, Told } from "../channel.ts";
import { BEING_SENT, combinedFailures, type Failure, OUT_OF_TIME } from "../failures.ts";
import { askedAmong, isAsked, toChannelPrincipal } from "../people.ts";
import { mutedAmong, withHeld } from "../routing.ts";
import { subjectOf } from "../subject.ts";
import { NO_ADDRESS } from "../test-route.ts";
import { header, section } from "./blocks.ts";
import { renewDigests, tellDigests } from "./digest.ts";
import { accountOf } from "./members.ts";
import {
  alertOf,
  failed,
  find,
  noteSent,
  OVERTAKEN,
  post,
  type SlackParts,
  type Telling,
  THREAD,
  update,
} from "./messages.ts";
import { personAt, sendOnce, sinceOf } from "./send-once.ts";
import type { SlackSettings } from "./slack-options.ts";

/** Sends one notice to everyone whom it concerns, and updates what was sent before. */
export async function tellSlack(parts: SlackParts, notice: Notice, signal: AbortSignal): Promise<Told> {
  const { book, settings } = parts;
  const subject = subjectOf(notice.about);
  const { to = {} } = (await book.read(book.keyOf(subject))) ?? {};
  const cards = Object.keys(to).filter((target) => !target.startsWith(THREAD));
  // First those who have no card yet: there may not be time for all.
  const isShown = (target: string): boolean => to[target]?.state === "sent";
  const isTold = new Set([...newTargets(settings, notice), ...cards]);
  const told = settings.people.filter(({ slack }) => isTold.has(slack));
  const { ids, held, late } = await mutedAmong(parts, notice, told.map(toChannelPrincipal));
  const telling = { ...parts, notice, subject, signal, muted: ids, late };
  const isDone = (target: string): boolean =>
    notice.type === "confirmation.requested"
      ? isShown(target)
      : to[`${THREAD}${target}:${notice.id}`] !== undefined;
  const untold = told.filter(({ id, slack }) => !ids.has(id) && !isDone(slack));
  const digested = await tellDigests(
    telling,
    untold.map(({ slack }) => slack),
    late,
  );
  const failures: Failure[] = [...digested.failures, ...(await renewDigests(telling, to))];
  const muted = new Set([...ids, ...digested.ids]);
  const isNew = (target: string): boolean =>
    !isShown(target) && !muted.has(personAt(parts, target).person ?? "");
  const targets = new Set([...newTargets(settings, notice).filter(isNew), ...cards]);
  if (targets.size === 0) return withHeld(failures, held);
  if (!(await book.show(subject, notice.revision))) return OVERTAKEN;
  for (const target of targets) {
    const outcome = signal.aborted ? OUT_OF_TIME : await tellTarget({ ...telling, muted }, target);
    if (!outcome.ok) failures.push(outcome);
  }
  const isOvertaken = failures.length === 0 && (await isShownNewer(parts, notice));
  return isOvertaken ? OVERTAKEN : withHeld(failures, held);
}

/** Was a newer state shown while this one was? */
async function isShownNewer({ book }: SlackParts, { about, revision }: Notice): Promise<boolean> {
  const { shown = 0 } = (await book.read(book.keyOf(subjectOf(about)))) ?? {};
  return shown > revision;
}

// A question that is over is announced to nobody.
function newTargets({ people, room }: SlackSettings, { about, type, known }: Notice): readonly string[] {
  const rooms = room === undefined ? [] : [room];
  if (!("id" in about)) return type === "call.unknown" ? rooms : [];
  if (about.status !== "requested") return [];
  // Other notices only update cards: they do not know whom the question is held back from.
  const asked = ASKING.has(type) ? askedAmong(about, people, known) : [];
  return [...rooms, ...asked.map(({ slack }) => slack)];
}

async function tellTarget(telling: Telling, target: string): Promise<Told> {
  const { book, subject, notice } = telling;
  const claim = await book.claim(subject, target, personAt(telling, target));
  if (claim.next === "wait") return BEING_SENT;
  if (claim.next === "nothing") return renew(telling, target, claim.message);
  const isOver = "id" in notice.about && notice.about.status !== "requested";
  const sent = await sendOnce(telling, { target, claim, isOver });
  if (sent === undefined || "ok" in sent) return sent ?? { ok: true };
  return claim.next === "send" ? { ok: true } : renew(telling, target, sent);
}

/** Shows a card as it is now, and alerts its readers where a change alone is not enough. */
async function renew(telling: Telling, target: string, card: SentMessage): Promise<Told> {
  const { notice, muted } = telling;
  const updated = await update(telling, target, card);
  // A person who got the card with this notice was notified by the card.
  const isMuted = muted.has(personAt(telling, target).person ?? "");
  const isNews = card.notice !== notice.id && isConcerned(telling, target) && !isMuted;
  const words = isNews ? alertOf(notice) : undefined;
  return updated.ok && words !== undefined ? alert(telling, { target, card, words }) : updated;
}

/** A question concerns the people who may decide it now; its outcome concerns everyone in the configuration. */
function isConcerned({ settings: { people, room }, notice }: Telling, target: string): boolean {
  const { about, type, known } = notice;
  if (target === room) return true;
  const person = people.find(({ slack }) => slack === target);
  if (person === undefined || !("id" in about) || !asks(notice)) return person !== undefined;
  const principal = toChannelPrincipal(person);
  if (!isAsked(about, principal, known)) return false;
  return type !== "confirmation.reminded" || isAwaited(about, principal, notice);
}

interface Alerting {
  readonly target: string;
  readonly card: SentMessage;
  readonly words: string;
}

/** A reply under the card, which people are notified of; a changed card notifies nobody. */
async function alert(telling: Telling, { target, card, words }: Alerting): Promise<Told> {
  const { book, subject, notice } = telling;
  const { place, message: thread } = card;
  if (place === undefined || thread === undefined) return { ok: true };
  const reply = `${THREAD}${target}:${notice.id}`;
  const owner = personAt(telling, target);
  // Several reminders that were held back are one, and none where the question itself was held back.
  const isLate = notice.type === "confirmation.reminded" && telling.late.has(owner.person ?? "");
  const isSaid = (name: string, { at }: SentMessage): boolean =>
    isLate && at >= notice.at && (name === target || name.startsWith(`${THREAD}${target}:`));
  const claim = await book.claimUnless(subject, reply, { ...owner, isReply: true }, isSaid);
  if (claim.next === "wait") return BEING_SENT;
  if (claim.next === "nothing") return { ok: true };
  const claimed = claim.message;
  if (claim.next === "look") {
    const found = await find(telling, { target: reply, place, since: sinceOf(claimed), thread });
    if (!found.ok) {
      await book.note(subject, reply, { claimed, as: { ...claimed, state: "unsure" } });
      return found;
    }
    if (found.ts !== undefined) {
      await noteSent(telling, { target: reply, sending: claimed, place, ts: found.ts });
      return { ok: true };
    }
  }
  const sent = await post(telling, { target: reply, sending: claimed, place, reply: { thread, words } });
  return "ok" in sent ? sent : { ok: true };
}

/** A harmless message, to everyone who could get a card. */
export async function sendTestCards(
  parts: SlackParts,
  signal: AbortSignal,
  only: string | undefined,
): Promise<Told> {
  const { room, people } = parts.settings;
  const told = people.filter(({ id }) => only === undefined || id === only).map(({ slack }) => slack);
  const targets = room === undefined || only !== undefined ? told : [room, ...told];
  if (targets.length === 0) return NO_ADDRESS;
  const blocks = [
    header("Test message from Countersign"),
    section("This is a test. Nothing waits for you, and there is nothing to decide."),
  ];
  const failures: Failure[] = [];
  for (const target of targets) {
    const found = await accountOf(parts, target, signal);
    const message = { text: "This is a test.", blocks };
    const answer = found.ok
      ? await parts.api.call("chat.postMessage", { channel: found.account, ...message }, signal)
      : found;
    if (!answer.ok) failures.push({ ...failed(answer), reason: `${target}: ${answer.reason}` });
  }
  return combinedFailures(failures);
}
