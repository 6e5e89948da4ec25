import type { Confirmation, MessageBook, SentMessage } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { Notice, NoticeType, Told } from "../channel.ts";
import type { DigestLedger } from "../digest.ts";
import type { Failure } from "../failures.ts";
import type { SlackAnswer, SlackApi } from "./api.ts";
import { type Block, section } from "./blocks.ts";
import { buttonValue } from "./button.ts";
import { type CardContent, cardBlocks, contentOf, shortContent } from "./card.ts";
import { accountOf } from "./members.ts";
import type { SlackSettings } from "./slack-options.ts";

/** Begins the names of messages that are no cards. */
export const THREAD = "thread:";
const EVENT = "countersign_card";
/** Slack's clock and ours may differ by this much. */
const SKEW_MS = 600_000;
const HISTORY = 200;
const MOST_PAGES = 5;
/** Slack finds the blocks too long. */
const TOO_LONG: ReadonlySet<string> = new Set([
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
  "msg_too_long",
]);
/** The message is gone or can no longer be changed: there is nothing to update. */
const GONE: ReadonlySet<string> = new Set([
  "cant_update_message",
  "channel_not_found",
  "edit_window_closed",
  "is_inactive",
  "message_not_found",
]);

const ALERTS: Readonly<Partial<Record<NoticeType, string>>> = {
  "confirmation.reminded": "A reminder: this call still waits for a decision.",
  "confirmation.escalated": "This call still waits for a decision. More people have been asked now.",
  "call.unknown": "The outcome of this call is unknown. Somebody must find out and settle it in the inbox.",
};

/** A newer state was shown, or is about to be: what was shown last is shown again. */
export const OVERTAKEN: Failure = {
  ok: false,
  reason: "The message has changed in the meantime.",
  retryAfterMs: 0,
};

/** What a Slack channel works with. */
export interface SlackParts {
  readonly ledger: DigestLedger;
  /** The channel's name. */
  readonly channel: string;
  readonly settings: SlackSettings;
  readonly api: SlackApi;
  readonly book: MessageBook;
  readonly buttonKey: () => Promise<Uint8Array>;
}

/** One notice on its way. */
export interface Telling extends SlackParts {
  readonly notice: Notice;
  readonly subject: string;
  readonly signal: AbortSignal;
  /** Ids of people who are not alerted now. */
  readonly muted: ReadonlySet<string>;
  /** Ids of people who are told now of what was held back, and when that was due. */
  readonly late: ReadonlyMap<string, number>;
  /** In the place of a card. */
  readonly content?: { readonly text: string; readonly blocks: readonly Block[] };
}

/** What the readers of a card are alerted of by a notice; undefined where the changed card is enough. */
export function alertOf({ about, type }: Pick<Notice, "about" | "type">): string | undefined {
  const isStillSo = about.status === (type === "call.unknown" ? "unknown" : "requested");
  return isStillSo ? ALERTS[type] : undefined;
}

interface Posting {
  readonly target: string;
  readonly sending: SentMessage;
  readonly place: string;
  /** An alert under a card. */
  readonly reply?: { readonly thread: string; readonly words: string };
}

/** Notes that a message has arrived. */
export async function noteSent(
  { book, subject }: Telling,
  { target, sending, place, ts }: Posting & { readonly ts: string },
): Promise<SentMessage> {
  const sent: SentMessage = { ...sending, state: "sent", place, message: ts };
  await book.note(subject, target, { claimed: sending, as: sent });
  return sent;
}

/** Posts a card, or an alert under one. Notes what became of it. */
export async function post(telling: Telling, posting: Posting): Promise<SentMessage | Failure> {
  const { book, subject } = telling;
  const { target, sending, place, reply } = posting;
  const write = async (blocks: readonly Block[]): Promise<SlackAnswer> =>
    telling.api.call(
      "chat.postMessage",
      {
        ...message(telling, target, blocks),
        channel: place,
        unfurl_links: false,
        unfurl_media: false,
        ...(reply === undefined ? {} : { thread_ts: reply.thread, text: reply.words }),
      },
      telling.signal,
    );
  const blocks = reply === undefined ? telling.content?.blocks : [section(reply.words)];
  const answer = blocks === undefined ? await fitting(telling, target, write) : await write(blocks);
  const ts = answer.ok ? answer.data["ts"] : undefined;
  if (answer.ok && typeof ts === "string") return noteSent(telling, { ...posting, ts });
  const isUnsure = answer.ok || answer.isUnsure;
  await book.note(subject, target, {
    claimed: sending,
    as: isUnsure ? { ...sending, state: "unsure" } : "not sent",
    ...(answer.ok ? {} : { because: failed(answer).reason }),
  });
  return answer.ok
    ? { ok: false, reason: "Slack's answer to chat.postMessage names no message." }
    : failed(answer);
}

/** Shows the card, or the content in its place, as it is now. */
export async function update(
  telling: Telling,
  target: string,
  { place, message: ts }: SentMessage,
): Promise<Told> {
  if (place === undefined || ts === undefined) return { ok: true };
  const write = (blocks: readonly Block[]): Promise<SlackAnswer> =>
    telling.api.call(
      "chat.update",
      { ...message(telling, target, blocks), channel: place, ts },
      telling.signal,
    );
  const { content } = telling;
  const answer = content === undefined ? await fitting(telling, target, write) : await write(content.blocks);
  return answer.ok || GONE.has(answer.error) ? { ok: true } : failed(answer);
}

/** Writes the whole card; where Slack finds it too long, the short one. */
async function fitting(
  telling: Telling,
  target: string,
  write: (blocks: readonly Block[]) => Promise<SlackAnswer>,
): Promise<SlackAnswer> {
  const { about } = telling.notice;
  const content = contentOf(about);
  const answer = await write(await blocksFor(telling, target, content));
  if (answer.ok || !TOO_LONG.has(answer.error) || !content.isWhole) return answer;
  return write(await blocksFor(telling, target, shortContent(about)));
}

async function blocksFor(
  { notice, buttonKey, book, subject }: Telling,
  target: string,
  content: CardContent,
): Promise<readonly Block[]> {
  const { about } = notice;
  if (!("id" in about)) return cardBlocks(notice, content);
  const signingKey = await buttonKey();
  const value = (act: "approve" | "fill" | "reject"): string =>
    buttonValue(signingKey, {
      act,
      key: book.keyOf(subject),
      confirmation: about.id,
      version: about.version,
      where: [target],
    });
  return cardBlocks(notice, content, {
    approve: value("approve"),
    fill: value("fill"),
    reject: value("reject"),
  });
}

/** What every message has; its text is ours alone, because Slack reads it as markup. */
function message(
  { notice, book, subject, content }: Telling,
  target: string,
  blocks: readonly Block[],
): JsonObject {
  return {
    text: content?.text ?? textOf(notice.about),
    blocks: [...blocks],
    metadata: {
      event_type: EVENT,
      event_payload: { notice: notice.id, message: markOf(book, subject, target) },
    },
  };
}

function textOf(about: Notice["about"]): string {
  if (!("id" in about)) return "The outcome of a call is unknown.";
  return TEXTS[about.status] ?? "A question was closed.";
}

const TEXTS: Readonly<Partial<Record<Confirmation["status"], string>>> = {
  requested: "A call waits for your decision.",
  unknown: "The outcome of an approved call is unknown.",
};

function markOf(book: MessageBook, subject: string, target: string): string {
  return `${book.keyOf(subject)}:${target}`;
}

/** Where messages to a target go. For a person, the conversation of the app with them. */
export async function openConversation(
  telling: Telling,
  target: string,
): Promise<Failure | { readonly ok: true; readonly place: string }> {
  if (/^[CG][A-Z0-9]+$/.test(target)) return { ok: true, place: target };
  const found = await accountOf(telling, target, telling.signal);
  if (!found.ok) return failed(found);
  const answer = await telling.api.call("conversations.open", { users: found.account }, telling.signal);
  if (!answer.ok) return failed(answer);
  const { channel } = answer.data;
  const id = isJsonObject(channel) ? channel["id"] : undefined;
  return typeof id === "string"
    ? { ok: true, place: id }
    : { ok: false, reason: "Slack's answer to conversations.open names no conversation." };
}

interface Wanted {
  readonly target: string;
  readonly place: string;
  readonly since: number;
  readonly thread?: string;
}

/** The message that we may have sent, by the mark that it carries. */
export async function find(
  { api, book, settings, subject, signal }: Telling,
  { target, place, since, thread }: Wanted,
): Promise<Failure | { readonly ok: true; readonly ts?: string }> {
  const method = thread === undefined ? "conversations.history" : "conversations.replies";
  const wanted = { mark: markOf(book, subject, target), app: settings.app };
  let cursor = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const args = {
      channel: place,
      oldest: String(Math.max(0, since - SKEW_MS) / 1_000),
      limit: HISTORY,
      include_all_metadata: true,
      ...(thread === undefined ? {} : { ts: thread }),
      ...(cursor === "" ? {} : { cursor }),
    };
    const answer = await api.call(method, args, signal);
    if (!answer.ok) return failed(answer);
    const { messages, response_metadata: more } = answer.data;
    const found = (isJsonArray(messages) ? messages : []).find((each) => isOurs(each, wanted));
    if (isJsonObject(found) && typeof found["ts"] === "string") return { ok: true, ts: found["ts"] };
    const next = isJsonObject(more) ? more["next_cursor"] : "";
    if (typeof next !== "string" || next === "") return { ok: true };
    cursor = next;
  }
  return { ok: false, reason: "The conversation is too busy to find the message in it." };
}

// In a room, another app can read our mark and post it.
function isOurs(found: JsonValue, { mark, app }: { readonly mark: string; readonly app: string }): boolean {
  if (!isJsonObject(found) || (found["app_id"] ?? app) !== app) return false;
  const { metadata } = found;
  const payload =
    isJsonObject(metadata) && metadata["event_type"] === EVENT ? metadata["event_payload"] : undefined;
  return isJsonObject(payload) && payload["message"] === mark;
}

/** What went wrong, for the operator. */
export function failed(answer: Exclude<SlackAnswer, { readonly ok: true }>): Failure {
  const { reason, retryAfterMs, isTemporary } = answer;
  return {
    ok: false,
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isTemporary ? {} : { final: true }),
  };
}
