import { createHash } from "node:crypto";
import type { KeyValueStore } from "../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";
import type { Notice } from "./channel.ts";

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
}

/** What was sent about one subject, by target. */
export interface SentMessages {
  /** The confirmation, or the call if nobody was asked. */
  readonly subject: string;
  /** The newest revision that was shown. */
  readonly shown: number;
  readonly to: { readonly [target: string]: SentMessage };
}

/** What messages are about: the confirmation, or a call that nobody was asked about. */
export function subjectOf(about: Notice["about"]): string {
  return "id" in about ? about.id : JSON.stringify([about.app, about.user, about.session, about.callId]);
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
}

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

  /** The key of a subject's messages. Says nothing to those who do not know the subject. */
  keyOf(subject: string): string {
    const words = JSON.stringify([this.#channel, subject]);
    return createHash("sha256").update(words).digest("hex").slice(0, KEY_LENGTH);
  }

  async read(key: string): Promise<SentMessages | undefined> {
    return (await this.#load(key))?.messages;
  }

  /** Says what to do about a target. Of any number that ask, one is told to send or to look. */
  async claim(subject: string, target: string): Promise<Claim> {
    return (await this.#claim(subject, () => target)).claim;
  }

  /**
   * The same, in the target's thread: the thread's first message if there is none or if it is this notice's, else a
   * reply. Also after a crash, a notice gets the message that it had before.
   */
  async claimInThread(
    subject: string,
    target: string,
    notice: string,
  ): Promise<{ readonly claim: Claim; readonly target: string; readonly isFirst: boolean }> {
    const choose = ({ to }: SentMessages): string => {
      const first = to[target];
      return first === undefined || first.notice === notice ? target : `${target} ${notice}`;
    };
    const claimed = await this.#claim(subject, choose, notice);
    return { ...claimed, isFirst: claimed.target === target };
  }

  async #claim(
    subject: string,
    choose: (messages: SentMessages) => string,
    notice?: string,
  ): Promise<{ readonly claim: Claim; readonly target: string }> {
    for (;;) {
      const key = this.keyOf(subject);
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      const target = choose(messages);
      const claim = this.#judge(messages.to[target], notice);
      if (claim.next === "nothing" || claim.next === "wait") return { claim, target };
      if (await this.#put(key, withMessage(messages, target, claim.message), version))
        return { claim, target };
    }
  }

  #judge(known: SentMessage | undefined, notice: string | undefined): Claim {
    const now = this.#now();
    if (known?.state === "sent") return { next: "nothing", message: known };
    if (known === undefined) {
      const message = { state: "sending", at: now, ...(notice === undefined ? {} : { notice }) } as const;
      return { next: "send", message };
    }
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
      const noted = withMessage(messages, target, noting.as === "not sent" ? undefined : noting.as);
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

  async #load(
    key: string,
  ): Promise<{ readonly messages: SentMessages; readonly version: number } | undefined> {
    const item = await this.#store.get(KIND, key);
    const messages = item && readMessages(item.value);
    return messages && { messages, version: item.version };
  }
}

function newMessages(subject: string): SentMessages {
  return { subject, shown: 0, to: {} };
}

function withMessage(messages: SentMessages, target: string, message: SentMessage | undefined): SentMessages {
  const { [target]: _before, ...rest } = messages.to;
  return { ...messages, to: message === undefined ? rest : { ...rest, [target]: message } };
}

function toValue({ subject, shown, to }: SentMessages): JsonObject {
  const messages = Object.entries(to).map(([target, message]) => [target, { ...message }] as const);
  return { subject, shown, to: Object.fromEntries(messages) };
}

function readMessages(value: JsonValue): SentMessages | undefined {
  if (!isJsonObject(value) || !isJsonObject(value["to"])) return undefined;
  const { subject, shown } = value;
  if (typeof subject !== "string" || typeof shown !== "number") return undefined;
  const to = Object.entries(value["to"]).flatMap(([target, message]) => {
    const read = isJsonObject(message) ? readMessage(message) : undefined;
    return read === undefined ? [] : [[target, read] as const];
  });
  return { subject, shown, to: Object.fromEntries(to) };
}

function readMessage(value: JsonObject): SentMessage | undefined {
  const { state, at, since, notice, place, message } = value;
  if (state !== "sending" && state !== "unsure" && state !== "sent") return undefined;
  return {
    state,
    at: typeof at === "number" ? at : 0,
    ...(typeof since === "number" ? { since } : {}),
    ...(typeof notice === "string" ? { notice } : {}),
    ...(typeof place === "string" ? { place } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}
