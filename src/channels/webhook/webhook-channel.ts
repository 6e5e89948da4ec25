import { type Clock, systemClock } from "../../engine/index.ts";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { parseWebhookSecret, postSigned, type SignedAddress } from "../../webhooks/index.ts";
import { asks, comesTooLate } from "../asks.ts";
import type { Channel, Told } from "../channel.ts";
import { unreached } from "../failures.ts";
import { createAnswerDoor, type WebhookAnswers } from "./answers.ts";
import { toMessage } from "./message.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** Options of {@link webhook}. */
export interface WebhookOptions {
  /** The http or https URL to post to. */
  readonly url: string;
  /** `whsec_…`, the newest first; every message is signed with all of them. */
  readonly secrets: readonly string[];
  /** Distinguishes several webhooks; all processes on a ledger must use one name for the same recipient. */
  readonly name?: string;
  readonly clock?: Clock;
  /** Lets the receiver answer questions by signed requests to `/channels/webhook/answers`. Default: it cannot. */
  readonly answers?: WebhookAnswers;
}

const GONE = 410;

/**
 * Posts notices as signed JSON (Standard Webhooks). Any 2xx is success; 410 ends this message; everything else is
 * retried. Redirects are not followed, and the answer's body is not read. With `answers`, messages that ask have
 * `data.answerTo`, and the receiver may send it back with a person's decision. Throws `invalid-option` for a URL that is
 * not http or https, or an invalid secret.
 */
export function createWebhookChannel(options: WebhookOptions): Channel {
  const { name = "webhook", secrets, clock = systemClock } = options;
  const url = parseUrl(options.url);
  const keys = secrets.map(parseWebhookSecret);
  if (keys.length === 0) {
    throw new CountersignError("invalid-option", "The webhook needs a secret to sign its messages.", {
      details: { field: "secrets" },
    });
  }
  const door = options.answers && createAnswerDoor(options.answers, { name, clock, ownKeys: keys });
  return {
    name,
    tell: async (notice, signal) => {
      if (comesTooLate(notice)) return { ok: true };
      const { about } = notice;
      const isAnswerable = door !== undefined && "id" in about && asks(notice) && about.truncated !== true;
      const message = toMessage(notice, isAnswerable ? await door.answerTo(about) : undefined);
      return post({ url, keys, clock }, { id: notice.id, ...message }, signal);
    },
    ...(door === undefined ? {} : { entries: { answers: door.receive } }),
    sendTest: (signal) => post({ url, keys, clock }, testMessage(clock.now()), signal),
  };
}

/** A message without content, to test a recipient. */
function testMessage(now: number): { readonly id: string } & JsonObject {
  return { id: `msg_test_${now}`, type: "channel.test", timestamp: new Date(now).toISOString(), data: {} };
}

async function post(
  address: SignedAddress,
  message: { readonly id: string },
  signal: AbortSignal,
): Promise<Told> {
  const { url, clock } = address;
  try {
    return toTold(await postSigned(address, message, signal), url, clock.now());
  } catch (error) {
    // The URL may contain a token, so only its origin is shown.
    return { ok: false, reason: `${url.origin} ${unreached(error, signal)}.` };
  }
}

function toTold({ status, ok, headers }: Response, url: URL, now: number): Told {
  if (ok) return { ok: true };
  const retryAfterMs = parseRetryAfter(headers.get("retry-after"), now);
  return {
    ok: false,
    reason: `${url.origin} answered ${status}.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === GONE ? { final: true } : {}),
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (url !== undefined && isWeb && url.username === "" && url.password === "") return url;
  throw new CountersignError(
    "invalid-option",
    "The webhook address must be an http or https URL without a user name, for example https://example.com/hook.",
    { details: { field: "url" } },
  );
}
