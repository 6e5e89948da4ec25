import { type Clock, type Ledger, MessageBook, systemClock } from "../../engine/index.ts";
import type { Channel, Told } from "../channel.ts";
import { testRoute } from "../test-route.ts";
import { createSlackApi } from "./api.ts";
import { buttonKey } from "./button.ts";
import { checkSlack } from "./check.ts";
import { sendTestCards, tellSlack } from "./delivery.ts";
import { receiveInteraction } from "./interactions.ts";
import type { SlackParts } from "./messages.ts";
import { checkSettings, type SlackSettings } from "./slack-options.ts";

/** Options of {@link createSlackChannel}. */
export interface SlackOptions extends SlackSettings {
  /** The ledger, which stores which messages were sent. */
  readonly ledger: Pick<Ledger, "items" | "now" | "confirmations" | "loadAll">;
  /** Distinguishes several Slack apps; it is part of their addresses. */
  readonly name?: string;
  readonly clock?: Clock;
}

/**
 * Asks the people whom a rule names by a card in Slack, updates the card in place, and takes their decisions at
 * `POST /channels/slack/interactions`. Throws `invalid-option`.
 */
export function createSlackChannel(options: SlackOptions): Channel {
  const { ledger, name = "slack", clock = systemClock, ...given } = options;
  const settings = checkSettings(given);
  let key: Promise<Uint8Array> | undefined;
  const parts: SlackParts = {
    ledger,
    channel: name,
    settings,
    api: createSlackApi(settings.apiUrl, settings.token),
    book: new MessageBook(ledger.items, name, () => ledger.now),
    buttonKey: () => {
      key ??= buttonKey(ledger.items).catch((error: unknown) => {
        key = undefined;
        throw error;
      });
      return key;
    },
  };
  const sendTest = (signal: AbortSignal, only?: string): Promise<Told> => sendTestCards(parts, signal, only);
  return {
    name,
    keepsCurrent: true,
    tell: (notice, signal) => tellSlack(parts, notice, signal),
    entries: {
      interactions: (request, approvals) => receiveInteraction(parts, request, { approvals, clock }),
    },
    check: (signal) => checkSlack(parts, signal),
    sendTest,
    routes: { test: testRoute({ ledger, name }, sendTest) },
  };
}
