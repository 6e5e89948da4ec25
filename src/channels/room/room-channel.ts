import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import type { Channel, Told } from "../channel.ts";
import { discordBody } from "./discord.ts";
import { pagerDutyBody } from "./pagerduty.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { teamsBody } from "./teams.ts";
import { telegramBody } from "./telegram.ts";

const PAGERDUTY = "https://events.pagerduty.com/v2/enqueue";
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
);

/**
 * Tells a room, not a person, that something waits and how it ended, with a link to the inbox. It shows no arguments
 * and takes no decisions. If an answer is lost, a message can come twice. Throws `invalid-option`.
 */
export function createRoomChannel(options: RoomOptions): Channel {
  const url = checkUrl(options.url ?? PAGERDUTY);
  const test: Summary = {
    title: "This is a test. There is nothing to decide.",
    lines: ["Tool: none"],
    isOpen: false,
    isUnknown: false,
    subject: "test",
  };
  return {
    name: options.name,
    tell: (notice, signal) => post(url, bodyOf(options, summaryOf(notice)), signal),
    sendTest: (signal) => post(url, bodyOf(options, test), signal),
  };
}

function bodyOf(options: RoomOptions, summary: Summary): JsonObject {
  switch (options.template) {
    case "teams":
      return teamsBody(summary);
    case "discord":
      return discordBody(summary);
    case "telegram":
      return telegramBody(summary, options.chat);
    case "pagerduty":
      return pagerDutyBody(summary, options.routingKey);
  }
}

async function post(url: URL, body: JsonObject, signal: AbortSignal): Promise<Told> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json", "user-agent": "countersign" },
      body: JSON.stringify(body),
      signal,
    });
  } catch {
    return { ok: false, reason: `${url.origin} could not be reached, or did not answer in time.` };
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
