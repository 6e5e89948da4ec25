import type { Notice, Told } from "../channel.ts";
import { combinedFailures, type Failure } from "../failures.ts";
import { askedAmong } from "../people.ts";
import { type SentMessage, subjectOf } from "../sent-messages.ts";
import { header, section } from "./blocks.ts";
import {
  failed,
  find,
  noteSent,
  openConversation,
  post,
  type SlackParts,
  type Telling,
  update,
} from "./messages.ts";
import type { SlackSettings } from "./slack-options.ts";

const THREAD = "thread:";

/** Sends one notice to everyone whom it concerns, and updates what was sent before. */
export async function tellSlack(parts: SlackParts, notice: Notice, signal: AbortSignal): Promise<Told> {
  const { book, settings } = parts;
  const subject = subjectOf(notice.about);
  const known = await book.read(book.keyOf(subject));
  const cards = Object.keys(known?.to ?? {}).filter((target) => !target.startsWith(THREAD));
  const targets = new Set([...cards, ...newTargets(settings, notice)]);
  if (targets.size === 0) return { ok: true };
  const overtaken: Failure = { ok: false, reason: "The card has changed meanwhile.", retryAfterMs: 0 };
  if (!(await book.show(subject, notice.revision))) return overtaken;
  const telling = { ...parts, notice, subject, signal };
  const failures: Failure[] = [];
  for (const target of targets) {
    const told = await tellTarget(telling, target);
    if (!told.ok) failures.push(told);
  }
  const shown = (await book.read(book.keyOf(subject)))?.shown ?? 0;
  return failures.length === 0 && shown > notice.revision ? overtaken : combinedFailures(failures);
}

// A question that is over is announced to nobody.
function newTargets({ people, room }: SlackSettings, { about, type }: Notice): readonly string[] {
  const rooms = room === undefined ? [] : [room];
  if (!("id" in about)) return type === "call.unknown" ? rooms : [];
  if (about.status !== "requested") return [];
  return [...rooms, ...askedAmong(about, people).map(({ slack }) => slack)];
}

async function tellTarget(telling: Telling, target: string): Promise<Told> {
  const { book, subject, notice } = telling;
  const claim = await book.claim(subject, target);
  if (claim.next === "wait") {
    return { ok: false, reason: "Another process is sending it.", retryAfterMs: claim.forMs };
  }
  if (claim.next !== "nothing") {
    const isOver = "id" in notice.about && notice.about.status !== "requested";
    const sent = await sendOnce(telling, { target, claim, isOver });
    if (sent === undefined || "ok" in sent) return sent ?? { ok: true };
    return claim.next === "send" ? { ok: true } : update(telling, target, sent);
  }
  const updated = await update(telling, target, claim.message);
  if (!updated.ok || notice.type !== "call.unknown") return updated;
  return alert(telling, target, claim.message);
}

interface Sending {
  readonly target: string;
  readonly claim: { readonly next: "send" | "look"; readonly message: SentMessage };
  /** It may have been sent, but is no longer worth sending. */
  readonly isOver: boolean;
}

/** Sends a card that was claimed. Undefined: it was never sent, and need not be. */
async function sendOnce(
  telling: Telling,
  { target, claim, isOver }: Sending,
): Promise<SentMessage | Failure | undefined> {
  const { book, subject } = telling;
  if (claim.next === "look" && claim.message.place !== undefined) {
    const found = await find(telling, { target, place: claim.message.place, since: claim.message.at });
    if (!found.ok) {
      await book.note(subject, target, { ...claim.message, state: "unsure" });
      return found;
    }
    if (found.ts !== undefined)
      return noteSent(telling, target, { place: claim.message.place, ts: found.ts });
  }
  if (isOver) {
    await book.note(subject, target, undefined);
    return undefined;
  }
  const opened = await openConversation(telling, target);
  if (!opened.ok) {
    await book.note(subject, target, undefined);
    return opened;
  }
  const sending: SentMessage = { ...claim.message, place: opened.place };
  await book.note(subject, target, sending);
  return post(telling, { target, sending, place: opened.place });
}

/** A reply under the card, which people are notified of; a changed card notifies nobody. */
async function alert(telling: Telling, target: string, card: SentMessage): Promise<Told> {
  const { book, subject, notice } = telling;
  const { place, message: thread } = card;
  if (place === undefined || thread === undefined) return { ok: true };
  const reply = `${THREAD}${target}:${notice.id}`;
  const claim = await book.claim(subject, reply);
  if (claim.next === "wait")
    return { ok: false, reason: "Another process is sending it.", retryAfterMs: claim.forMs };
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "look") {
    const found = await find(telling, { target: reply, place, since: claim.message.at, thread });
    if (!found.ok) {
      await book.note(subject, reply, { ...claim.message, state: "unsure" });
      return found;
    }
    if (found.ts !== undefined) {
      await noteSent(telling, reply, { place, ts: found.ts });
      return { ok: true };
    }
  }
  const sent = await post(telling, { target: reply, sending: claim.message, place, thread });
  return "ok" in sent ? sent : { ok: true };
}

/** A harmless message, to everyone who could get a card. */
export async function sendTestCards({ api, settings }: SlackParts, signal: AbortSignal): Promise<Told> {
  const targets = [
    ...(settings.room === undefined ? [] : [settings.room]),
    ...settings.people.map(({ slack }) => slack),
  ];
  const blocks = [
    header("Countersign reaches you here"),
    section("This is a test. Nothing waits for you, and there is nothing to decide."),
  ];
  const failures: Failure[] = [];
  for (const channel of targets) {
    const answer = await api.call("chat.postMessage", { channel, text: "This is a test.", blocks }, signal);
    if (!answer.ok) failures.push({ ...failed(answer), reason: `${channel}: ${answer.reason}` });
  }
  return combinedFailures(failures);
}
