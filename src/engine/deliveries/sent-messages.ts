import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { KeyValueStore } from "../ledger/index.ts";

const KIND = "channel-messages";
const KEY_LENGTH = 32;
/** After this long a message is no longer updated, and its buttons no longer decide. */
const KEPT_MS = 180 * 24 * 3_600_000;
/** Longer than a delivery is held: by then the process that began to send has stopped, or its time is up. */
const SENDING_MS = 30_000;

/** One message to one target. `unsure`: it was sent, but whether it arrived is not known. */
export interface SentMessage {
  readonly state: "sending" | "unsure" | "sent";
  /** When the last attempt began, by the ledger's clock. */
  readonly at: number;
  /** When the first attempt began, if there were several. */
  readonly since?: number;
  /** The notice that it was sent for, where that matters. */
  readonly notice?: string;
  /** The medium's name of the place and of the message, where it has them. */
  readonly place?: string;
  readonly message?: string;
  /** Whose target it is. */
  readonly person?: string;
  /** It follows another message to the same target. */
  readonly isReply?: true;
}

/** A message that did not arrive, and is tried again or was given up. */
export interface FailedMessage extends Pick<SentMessage, "at" | "person" | "isReply"> {
  readonly reason: string;
}

/** What was sent about one subject, by target. */
export interface SentMessages {
  /** The confirmation, or the call if nobody was asked. */
  readonly subject: string;
  /** The newest revision that was shown. */
  readonly shown: number;
  readonly to: { readonly [target: string]: SentMessage };
  /** What did not arrive, by target. */
  readonly failed: { readonly [target: string]: FailedMessage };
}

/** What to do about a target. `look`: it may have arrived, so ask the medium before it is sent. */
export type Claim =
  | { readonly next: "send" | "look"; readonly message: SentMessage }
  | { readonly next: "wait" }
  | { readonly next: "nothing"; readonly message: SentMessage };

/** What became of a message that was claimed. */
interface Noting {
  readonly claimed: SentMessage;
  readonly as: SentMessage | "not sent";
  /** Why it was not sent. For people who may see the question; must not contain a secret. */
  readonly because?: string;
}

/** A message in a thread. */
interface ThreadMessage {
  readonly notice: string;
  readonly person?: string | undefined;
  /** It is not needed where the target was told something since then. */
  readonly unlessSince?: number | undefined;
}

/** Which message, and for whom; or that none is needed beside this one. */
type Choice = readonly [target: string, about: MessageFor, nothing?: "nothing"];

/** To whom a message goes. */
export type MessageFor = Pick<SentMessage, "person" | "isReply" | "notice">;

function isStillClaimed(known: SentMessage | undefined, { claimed, as }: Noting): boolean {
  // A store that forgot the claim must not forget the message, too.
  if (known === undefined) return as !== "not sent" && as.state === "sent";
  return known.state === "sending" && known.at === claimed.at;
}

/**
 * Which messages a channel has sent, in the ledger. A message is noted before and after it is sent, so that whoever
 * dies in between, the next attempt knows that it may have arrived.
 */
export class MessageBook {
  readonly #store: KeyValueStore;
  readonly #channel: string;
  readonly #now: () => number;

  constructor(store: KeyValueStore, channel: string, now: () => number) {
    this.#store = store;
    this.#channel = channel;
    this.#now = now;
  }

  /** The key of a subject's messages. The subject cannot be told from it. */
  keyOf(subject: string): string {
    return messagesKey(this.#channel, subject);
  }

  async read(key: string): Promise<SentMessages | undefined> {
    return (await this.#load(key))?.messages;
  }

  /** Says what to do about a target. If several ask, only one is told to send or to look. */
  async claim(subject: string, target: string, about: MessageFor = {}): Promise<Claim> {
    return (await this.#claim(subject, () => [target, about])).claim;
  }

  /** The same; nothing if another message about the subject has said it. */
  async claimUnless(
    subject: string,
    target: string,
    about: MessageFor,
    isSaid: (target: string, message: SentMessage) => boolean,
  ): Promise<Claim> {
    const choose = ({ to }: SentMessages): Choice => {
      const other = Object.entries(to).find(([name, message]) => name !== target && isSaid(name, message));
      return to[target] === undefined && other !== undefined ? [...other, "nothing"] : [target, about];
    };
    return (await this.#claim(subject, choose)).claim;
  }

  /**
   * The same, in the target's thread: the thread's first message if there is none or if it is this notice's, else a
   * reply. Also after a crash, a notice gets the message that it had before.
   */
  async claimInThread(
    subject: string,
    target: string,
    { notice, person, unlessSince }: ThreadMessage,
  ): Promise<{ readonly claim: Claim; readonly target: string; readonly isFirst: boolean }> {
    const about = { notice, ...(person === undefined ? {} : { person }) };
    const choose = ({ to }: SentMessages): Choice => {
      const first = to[target];
      if (first === undefined || first.notice === notice) return [target, about];
      const reply = to[`${target} ${notice}`];
      const other = reply === undefined ? lastTo(target, to) : undefined;
      // It says nothing that another message has not said since.
      if (other !== undefined && unlessSince !== undefined && other.message.at >= unlessSince)
        return [other.target, other.message, "nothing"];
      return [`${target} ${notice}`, { ...about, isReply: true }];
    };
    const claimed = await this.#claim(subject, choose);
    return { ...claimed, isFirst: claimed.target === target };
  }

  async #claim(
    subject: string,
    choose: (messages: SentMessages) => Choice,
  ): Promise<{ readonly claim: Claim; readonly target: string }> {
    for (;;) {
      const key = this.keyOf(subject);
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      const [target, about, nothing] = choose(messages);
      const known = messages.to[target];
      if (nothing !== undefined && known !== undefined)
        return { claim: { next: "nothing", message: known }, target };
      const claim = this.#judge(messages.to[target], about);
      if (claim.next === "nothing" || claim.next === "wait") return { claim, target };
      if (await this.#put(key, withMessage(messages, target, claim.message), version))
        return { claim, target };
    }
  }

  #judge(known: SentMessage | undefined, about: MessageFor): Claim {
    const now = this.#now();
    if (known?.state === "sent") return { next: "nothing", message: known };
    if (known === undefined) return { next: "send", message: { state: "sending", at: now, ...about } };
    const { at, since = at } = known;
    if (known.state === "sending" && now < at + SENDING_MS) return { next: "wait" };
    // This attempt's time makes others wait. The first one's stays: the medium is asked for what arrived since then.
    return { next: "look", message: { ...known, state: "sending", at: now, since } };
  }

  /**
   * Notes what became of a claimed message; "not sent" forgets it. False: the process was stopped for so long that
   * another one has claimed the message, and what that one notes counts.
   */
  async note(subject: string, target: string, noting: Noting): Promise<boolean> {
    const key = this.keyOf(subject);
    for (;;) {
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      if (!isStillClaimed(messages.to[target], noting)) return false;
      const noted = withOutcome(messages, target, noting);
      if (await this.#put(key, noted, version)) return true;
    }
  }

  /** Notes that this revision is being shown. False: a newer one is, or was. */
  async show(subject: string, revision: number): Promise<boolean> {
    const key = this.keyOf(subject);
    for (;;) {
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      if (messages.shown >= revision) return messages.shown === revision;
      if (await this.#put(key, { ...messages, shown: revision }, version)) return true;
    }
  }

  #put(key: string, messages: SentMessages, version: number): Promise<boolean> {
    const expiresAt = this.#now() + KEPT_MS;
    return this.#store.put({ kind: KIND, id: key, value: toValue(messages), expiresAt }, version);
  }

  #load(key: string): ReturnType<typeof loadMessages> {
    return loadMessages(this.#store, key);
  }
}

function messagesKey(channel: string, subject: string): string {
  const words = JSON.stringify([channel, subject]);
  return createHash("sha256").update(words).digest("hex").slice(0, KEY_LENGTH);
}

async function loadMessages(
  store: Pick<KeyValueStore, "get">,
  key: string,
): Promise<{ readonly messages: SentMessages; readonly version: number } | undefined> {
  const item = await store.get(KIND, key);
  const messages = item && readMessages(item.value);
  return messages && { messages, version: item.version };
}

/** What a channel sent about a subject; undefined where it sent nothing. */
export async function sentMessages(
  store: Pick<KeyValueStore, "get">,
  channel: string,
  subject: string,
): Promise<SentMessages | undefined> {
  return (await loadMessages(store, messagesKey(channel, subject)))?.messages;
}

/** The last message of a target's thread. */
function lastTo(
  target: string,
  to: SentMessages["to"],
): { readonly target: string; readonly message: SentMessage } | undefined {
  return Object.entries(to)
    .filter(([name]) => name === target || name.startsWith(`${target} `))
    .map(([name, message]) => ({ target: name, message }))
    .toSorted((one, other) => other.message.at - one.message.at)[0];
}

function newMessages(subject: string): SentMessages {
  return { subject, shown: 0, to: {}, failed: {} };
}

function withMessage(messages: SentMessages, target: string, message: SentMessage | undefined): SentMessages {
  const { [target]: _before, ...rest } = messages.to;
  return { ...messages, to: message === undefined ? rest : { ...rest, [target]: message } };
}

/** What was sent is no longer failed, and what failed is no longer being sent. */
function withOutcome(messages: SentMessages, target: string, { claimed, as, because }: Noting): SentMessages {
  const { [target]: _before, ...failed } = messages.failed;
  if (as !== "not sent") return withMessage({ ...messages, failed }, target, as);
  const left = withMessage(messages, target, undefined);
  if (because === undefined) return left;
  const { at, person, isReply } = claimed;
  const failure: FailedMessage = {
    at,
    reason: because,
    ...(person === undefined ? {} : { person }),
    ...(isReply === undefined ? {} : { isReply }),
  };
  return { ...left, failed: { ...failed, [target]: failure } };
}

function toValue({ subject, shown, to, failed }: SentMessages): JsonObject {
  return { subject, shown, to: toValues(to), failed: toValues(failed) };
}

function toValues(messages: { readonly [target: string]: SentMessage | FailedMessage }): JsonObject {
  return Object.fromEntries(Object.entries(messages).map(([target, message]) => [target, { ...message }]));
}

function readMessages(value: JsonValue): SentMessages | undefined {
  if (!isJsonObject(value)) return undefined;
  const { subject, shown, to, failed } = value;
  if (typeof subject !== "string" || typeof shown !== "number") return undefined;
  return { subject, shown, to: readAll(to, readMessage), failed: readAll(failed, readFailure) };
}

function readAll<T>(
  value: JsonValue | undefined,
  read: (value: JsonObject) => T | undefined,
): { readonly [target: string]: T } {
  if (value === undefined || !isJsonObject(value)) return {};
  const found = Object.entries(value).flatMap(([target, message]) => {
    const known = isJsonObject(message) ? read(message) : undefined;
    return known === undefined ? [] : [[target, known] as const];
  });
  return Object.fromEntries(found);
}

function readFailure({ at, reason, person, isReply }: JsonObject): FailedMessage | undefined {
  if (typeof at !== "number" || typeof reason !== "string") return undefined;
  return { at, reason, ...readFor(person, isReply) };
}

function readFor(
  person: JsonValue | undefined,
  isReply: JsonValue | undefined,
): Pick<SentMessage, "person" | "isReply"> {
  return {
    ...(typeof person === "string" ? { person } : {}),
    ...(isReply === true ? { isReply } : {}),
  };
}

function readMessage(value: JsonObject): SentMessage | undefined {
  const { state, at, since, notice, place, message, person, isReply } = value;
  if (state !== "sending" && state !== "unsure" && state !== "sent") return undefined;
  return {
    state,
    at: typeof at === "number" ? at : 0,
    ...(typeof since === "number" ? { since } : {}),
    ...(typeof notice === "string" ? { notice } : {}),
    ...(typeof place === "string" ? { place } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...readFor(person, isReply),
  };
}
