import { createHash } from "node:crypto";
import { type Clock, type Ledger, MessageBook, type Principal, systemClock } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { asks } from "../asks.ts";
import type { Channel, Notice, Told } from "../channel.ts";
import { type Digest, stillWaiting } from "../digest.ts";
import { combinedFailures, type Failure, type Sent } from "../failures.ts";
import { isAsked } from "../people.ts";
import { subjectOf } from "../subject.ts";
import { tellPeople } from "../tell-people.ts";
import { NO_ADDRESS, testRoute } from "../test-route.ts";
import { encryptPush } from "./encrypt.ts";
import { postPush } from "./post.ts";
import { checkSettings, type PushSettings } from "./push-options.ts";
import { keyRoute, subscriptionsRoute } from "./routes.ts";
import { type Subscription, Subscriptions } from "./subscriptions.ts";
import { type VapidKey, vapidHeader, vapidKey } from "./vapid.ts";

const TTL_SECONDS = 7 * 24 * 3_600;
const TOPIC_LENGTH = 32;
const AT_ONCE = 16;
// A message has at most 4,096 bytes; a page that is open knows the rest.
const MOST_IDS = 20;
const NO_DEVICES: Failure = {
  ok: false,
  reason: "Nobody has turned on notifications on a device of this ledger.",
  final: true,
};
const OVERTAKEN: Failure = {
  ok: false,
  reason: "The notification has changed in the meantime.",
  retryAfterMs: 0,
};

/** Options of {@link createPushChannel}. */
export interface PushOptions extends PushSettings {
  /** Where devices, keys and sent messages are kept. */
  readonly ledger: Pick<Ledger, "items" | "now" | "confirmations" | "loadAll">;
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
  const sendTest = (signal: AbortSignal, only?: string): Promise<Told> => sendTests(parts, signal, only);
  return {
    name: "push",
    tell: (notice, signal) => tellByPush(parts, notice, signal),
    routes: {
      key: keyRoute(routes),
      subscriptions: subscriptionsRoute(routes),
      test: testRoute({ ledger, name: "push" }, sendTest),
    },
    sendTest,
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
  const sendDigest = async (target: string, digest: Digest): Promise<Sent> => {
    const device = devices.get(target);
    return device === undefined ? { ok: true } : pushDigest(parts, { device, digest, signal });
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
    sendDigest,
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

/** Sends a message that asks for nothing to every device, or to those of one person. */
async function sendTests(parts: PushParts, signal: AbortSignal, only: string | undefined): Promise<Told> {
  const all = await parts.subscriptions.all();
  const devices = all.filter(({ person }) => only === undefined || person.id === only);
  if (devices.length === 0) return only === undefined ? NO_DEVICES : NO_ADDRESS;
  const failures: Failure[] = [];
  for (const device of devices) {
    const message = {
      payload: { notice: `test_${parts.clock.now()}`, is: "test" },
      subject: "test",
      urgency: "normal",
    } as const;
    const sent = await post(parts, { device, message, signal });
    if (sent === "gone")
      failures.push({ ok: false, final: true, reason: `A device of ${device.person.id} is gone.` });
    else if (!sent.ok)
      failures.push({ ok: false, final: true, reason: `A device of ${device.person.id}: ${sent.reason}` });
  }
  return combinedFailures(failures);
}

interface Push {
  readonly device: Subscription;
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

async function push(parts: PushParts, { device, notice, signal }: Push): Promise<Sent> {
  const subject = subjectOf(notice.about);
  const urgency = asks(notice) ? "high" : "normal";
  return postOnce(parts, { device, message: { payload: payloadOf(notice), subject, urgency }, signal });
}

/** One notification about all that waits for somebody. */
async function pushDigest(
  parts: PushParts,
  { device, digest, signal }: Omit<Push, "notice"> & { readonly digest: Digest },
): Promise<Sent> {
  const waiting = await stillWaiting(parts.ledger, digest);
  if (waiting.length === 0) return { ok: true };
  const { subject } = digest;
  const payload = {
    notice: parts.book.keyOf(subject),
    is: "digest",
    count: waiting.length,
    waiting: waiting.slice(0, MOST_IDS).map(({ id }) => id),
  } as const;
  return postOnce(parts, { device, message: { payload, subject, urgency: "high" }, signal });
}

/** Forgets a device that is gone. */
async function postOnce(parts: PushParts, sending: PushPost): Promise<Sent> {
  const sent = await post(parts, sending);
  if (sent !== "gone") return sent;
  await parts.subscriptions.remove(sending.device);
  return { ok: true };
}

interface PushPost {
  readonly device: Subscription;
  readonly message: {
    readonly payload: JsonObject;
    readonly subject: string;
    readonly urgency: "high" | "normal";
  };
  readonly signal: AbortSignal;
}

/** Encrypts it for the device, and sends it. */
async function post(parts: PushParts, { device, message, signal }: PushPost): Promise<Sent | "gone"> {
  const { settings, clock, key } = parts;
  const { endpoint, keys } = device;
  const { contact, services = [] } = settings;
  const { payload, subject, urgency } = message;
  const body = encrypted(payload, keys);
  if (body === undefined) return "gone";
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
    urgency,
    // A device that was off gets only the newest about each question.
    topic: createHash("sha256").update(subject).digest("base64url").slice(0, TOPIC_LENGTH),
  };
  return postPush({ endpoint, headers, body }, { services, signal });
}

/** Undefined for keys that were changed in the ledger. */
function encrypted(payload: JsonObject, keys: Subscription["keys"]): Buffer<ArrayBuffer> | undefined {
  try {
    return encryptPush(Buffer.from(JSON.stringify(payload)), keys);
  } catch {
    return undefined;
  }
}

/** Ids, and whether something is to be done. Nothing of what is asked. */
function payloadOf({ id: notice, about }: Notice): JsonObject {
  const { status } = about;
  const is = status === "requested" || status === "unknown" ? status : "over";
  return "id" in about ? { notice, confirmation: about.id, is } : { notice, call: about.callId, is };
}
