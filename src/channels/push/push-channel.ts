import { createHash } from "node:crypto";
import { type Clock, type Ledger, MessageBook, type Principal, systemClock } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { asks } from "../asks.ts";
import type { Channel, Notice, Told } from "../channel.ts";
import type { Failure, Sent } from "../failures.ts";
import { isAsked } from "../people.ts";
import { subjectOf } from "../subject.ts";
import { tellPeople } from "../tell-people.ts";
import { encryptPush } from "./encrypt.ts";
import { postPush } from "./post.ts";
import { checkSettings, type PushSettings } from "./push-options.ts";
import { keyRoute, subscriptionsRoute } from "./routes.ts";
import { type Subscription, Subscriptions } from "./subscriptions.ts";
import { type VapidKey, vapidHeader, vapidKey } from "./vapid.ts";

const TTL_SECONDS = 7 * 24 * 3_600;
const TOPIC_LENGTH = 32;
const AT_ONCE = 16;
const OVERTAKEN: Failure = { ok: false, reason: "It has changed meanwhile.", retryAfterMs: 0 };

/** Options of {@link createPushChannel}. */
export interface PushOptions extends PushSettings {
  /** Where devices, keys and sent messages are kept. */
  readonly ledger: Pick<Ledger, "items" | "now" | "confirmations" | "load">;
  readonly clock?: Clock;
}

/**
 * Notifies the people whom a rule asks on every device where they turned that on in the inbox, and takes the
 * notification away when it is decided elsewhere. A message has ids only. People subscribe at `/channels/push/…`. Throws
 * `invalid-option`.
 */
export function createPushChannel(options: PushOptions): Channel {
  const { ledger, clock = systemClock, ...given } = options;
  const settings = checkSettings(given);
  const { services = [] } = settings;
  let known: Promise<VapidKey> | undefined;
  const key = (): Promise<VapidKey> => {
    known ??= vapidKey(ledger.items).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
  const parts: PushParts = {
    ledger,
    settings,
    key,
    clock,
    subscriptions: new Subscriptions(ledger.items, () => ledger.now),
    book: new MessageBook(ledger.items, "push", () => ledger.now),
  };
  const { subscriptions } = parts;
  const routes = { subscriptions, services, publicKey: async () => (await key()).publicKey };
  return {
    name: "push",
    tell: (notice, signal) => tellByPush(parts, notice, signal),
    routes: { key: keyRoute(routes), subscriptions: subscriptionsRoute(routes) },
  };
}

interface PushParts {
  readonly ledger: PushOptions["ledger"];
  readonly settings: PushSettings;
  readonly key: () => Promise<VapidKey>;
  readonly clock: Clock;
  readonly subscriptions: Subscriptions;
  readonly book: MessageBook;
}

async function tellByPush(parts: PushParts, told: Notice, signal: AbortSignal): Promise<Told> {
  const { book, settings } = parts;
  const notice = asAnswered(told);
  const { about } = notice;
  const subject = subjectOf(about);
  const devices = new Map((await parts.subscriptions.all()).map((device) => [device.id, device]));
  const those = (isThis: (device: Subscription) => boolean): readonly string[] =>
    [...devices.values()].filter(isThis).map(({ id }) => id);
  const recipients = {
    all: [...devices.keys()],
    asked: "id" in about ? those(({ person }) => isAsked(about, person, notice.known)) : [],
    operators: those(({ person }) => person.id === settings.operator),
  };
  await book.show(subject, notice.revision);
  const send = async (target: string): Promise<Sent> => {
    const device = devices.get(target);
    return device === undefined ? { ok: true } : push(parts, { device, notice, signal });
  };
  const personOf = (target: string): Principal | undefined => devices.get(target)?.person;
  const outcome = await tellPeople({
    ledger: parts.ledger,
    channel: "push",
    book,
    notice,
    signal,
    recipients,
    personOf,
    send,
    atOnce: AT_ONCE,
  });
  // Somebody may have decided while it was sent, and told nobody who was not told before: then it is told again.
  const { shown = 0 } = (await book.read(book.keyOf(subject))) ?? {};
  const isDone = outcome.ok || outcome.isHeld === true;
  const ended = isDone && asks(notice) && shown > notice.revision ? OVERTAKEN : outcome;
  // A device is one person's, and so is the server that it names: others must not wait for it.
  return ended.ok ? ended : { ...ended, isolated: true };
}

/** A question that is over by now takes away the notification that it may have left. */
function asAnswered(notice: Notice): Notice {
  const { about, type, id } = notice;
  if (!("id" in about) || about.status === "requested" || !type.startsWith("confirmation.")) return notice;
  return { ...notice, id: `${id}_over`, type: "confirmation.decided" };
}

interface Push {
  readonly device: Subscription;
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

async function push(parts: PushParts, { device, notice, signal }: Push): Promise<Sent> {
  const { settings, clock, key, subscriptions } = parts;
  const { endpoint, keys } = device;
  const { contact, services = [] } = settings;
  const body = encryptPush(Buffer.from(JSON.stringify(payloadOf(notice))), keys);
  const headers = {
    authorization: vapidHeader(await key(), {
      origin: new URL(endpoint).origin,
      contact,
      now: clock.now(),
    }),
    "content-encoding": "aes128gcm",
    "content-type": "application/octet-stream",
    "content-length": String(body.length),
    ttl: String(TTL_SECONDS),
    urgency: asks(notice) ? "high" : "normal",
    // A device that was off gets only the newest about each question.
    topic: createHash("sha256").update(subjectOf(notice.about)).digest("base64url").slice(0, TOPIC_LENGTH),
  };
  const sent = await postPush({ endpoint, headers, body }, { services, signal });
  if (sent !== "gone") return sent;
  await subscriptions.remove(device);
  return { ok: true };
}

/** Ids, and whether something is to be done. Nothing of what is asked. */
function payloadOf({ id: notice, about }: Notice): JsonObject {
  const { status } = about;
  const is = status === "requested" || status === "unknown" ? status : "over";
  return "id" in about ? { notice, confirmation: about.id, is } : { notice, call: about.callId, is };
}
