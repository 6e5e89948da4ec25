import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { comesTooLate } from "../asks.ts";
import type { Channel, Told } from "../channel.ts";
import { unreached } from "../failures.ts";
import { discordBody } from "./discord.ts";
import { opsgenieRequest } from "./opsgenie.ts";
import { pagerDutyBody } from "./pagerduty.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { teamsBody } from "./teams.ts";
import { telegramBody } from "./telegram.ts";

const PAGERDUTY = "https://events.pagerduty.com/v2/enqueue";
const OPSGENIE = "https://api.opsgenie.com/v2/alerts";
const SECONDS = /^\d{1,9}$/;

/** Options of {@link createRoomChannel}. */
export type RoomOptions = {
  /** Identifies the channel; unique. */
  readonly name: string;
} & (
  | {
      readonly template: "teams" | "discord";
      /** The webhook's address. It is a secret. */
      readonly url: string;
    }
  | {
      readonly template: "telegram";
      /** `https://api.telegram.org/bot<token>/sendMessage`. It is a secret. */
      readonly url: string;
      readonly chat: string;
    }
  | { readonly template: "pagerduty"; readonly routingKey: string; readonly url?: string }
  | {
      readonly template: "opsgenie";
      readonly apiKey: string;
      /** The address of all alerts; another one in the EU, and for Jira Service Management. */
      readonly url?: string;
    }
);

/**
 * Tells a room, not a person, that something waits and how it ended, with a link to the inbox. It shows no arguments
 * and takes no decisions. If an answer is lost, a message can come twice. Throws `invalid-option`.
 */
export function createRoomChannel(options: RoomOptions): Channel {
  const url = checkUrl(options.url ?? (options.template === "opsgenie" ? OPSGENIE : PAGERDUTY));
  const test: Summary = {
    title: "This is a test. There is nothing to decide.",
    lines: ["Tool: none"],
    isOpen: false,
    isUnknown: false,
    subject: "test",
  };
  return {
    name: options.name,
    tell: async (notice, signal) =>
      comesTooLate(notice) ? { ok: true } : post(requestOf(url, options, summaryOf(notice)), signal),
    sendTest: (signal) => post(requestOf(url, options, test), signal),
  };
}

interface RoomRequest {
  readonly url: URL;
  readonly body: JsonObject;
  /** The value of the `Authorization` header. */
  readonly authorization?: string;
}

function requestOf(url: URL, options: RoomOptions, summary: Summary): RoomRequest {
  switch (options.template) {
    case "teams":
      return { url, body: teamsBody(summary) };
    case "discord":
      return { url, body: discordBody(summary) };
    case "telegram":
      return { url, body: telegramBody(summary, options.chat) };
    case "pagerduty":
      return { url, body: pagerDutyBody(summary, options.routingKey) };
    case "opsgenie": {
      const { path, body } = opsgenieRequest(summary);
      return { url: new URL(`${url.href}${path}`), body, authorization: `GenieKey ${options.apiKey}` };
    }
  }
}

async function post({ url, body, authorization }: RoomRequest, signal: AbortSignal): Promise<Told> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": "countersign",
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    return { ok: false, reason: `${url.origin} ${unreached(error, signal)}.` };
  }
  // The answer's body is not needed, and could be endless.
  await response.body?.cancel().catch(() => {});
  if (response.ok) return { ok: true };
  const wait = response.headers.get("retry-after") ?? "";
  const isGone = response.status === 404 || response.status === 410;
  return {
    ok: false,
    reason: `${url.origin} answered ${response.status}.`,
    ...(SECONDS.test(wait) ? { retryAfterMs: Number(wait) * 1_000 } : {}),
    ...(isGone ? { final: true } : {}),
  };
}

// The address is a secret, so it is not repeated, and goes over no connection that others can read.
function checkUrl(text: string): URL {
  const url = URL.parse(text);
  const isHere = url?.hostname === "127.0.0.1" || url?.hostname === "localhost";
  if (url !== null && (url.protocol === "https:" || (url.protocol === "http:" && isHere))) return url;
  throw new CountersignError("invalid-option", "The address of a room must be an https URL.", {
    details: { field: "url" },
  });
}
