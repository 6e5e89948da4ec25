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
  /** When that began, by the ledger's clock. */
  readonly at: number;
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
  | { readonly next: "wait"; readonly forMs: number }
  | { readonly next: "nothing"; readonly message: SentMessage };

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
    for (;;) {
      const key = this.keyOf(subject);
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      const claim = this.#judge(messages.to[target]);
      if (claim.next === "nothing" || claim.next === "wait") return claim;
      if (await this.#put(key, withMessage(messages, target, claim.message), version)) return claim;
    }
  }

  #judge(known: SentMessage | undefined): Claim {
    const now = this.#now();
    if (known?.state === "sent") return { next: "nothing", message: known };
    if (known === undefined) return { next: "send", message: { state: "sending", at: now } };
    const leftMs = known.at + SENDING_MS - now;
    if (known.state === "sending" && leftMs > 0) return { next: "wait", forMs: leftMs };
    // The time of the first attempt stays: the medium is asked for what arrived since then.
    return { next: "look", message: { ...known, state: "sending" } };
  }

  /** Notes what became of a message; undefined forgets it: it was not sent. */
  async note(subject: string, target: string, message: SentMessage | undefined): Promise<void> {
    const key = this.keyOf(subject);
    for (;;) {
      const { messages = newMessages(subject), version = 0 } = (await this.#load(key)) ?? {};
      if (await this.#put(key, withMessage(messages, target, message), version)) return;
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

function readMessage({ state, at, place, message }: JsonObject): SentMessage | undefined {
  if (state !== "sending" && state !== "unsure" && state !== "sent") return undefined;
  return {
    state,
    at: typeof at === "number" ? at : 0,
    ...(typeof place === "string" ? { place } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}
