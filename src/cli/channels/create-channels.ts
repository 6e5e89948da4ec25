import type { createEmailChannel } from "../../channels/email/index.ts";
import type { Channel } from "../../channels/index.ts";
import { createPushChannel } from "../../channels/push/index.ts";
import { createRoomChannel } from "../../channels/room/index.ts";
import { createSiem, type Siem } from "../../channels/siem/index.ts";
import { createSlackChannel } from "../../channels/slack/index.ts";
import { createWebhookChannel, webhookSecrets } from "../../channels/webhook/index.ts";
import type { Ledger } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { ChannelSettings } from "./channel-settings.ts";

/** Which channels there are. */
export interface ChannelChoice {
  readonly channels: ChannelSettings;
  readonly webhook?: string;
  /** Signs the webhook's messages; if not given, the ledger's own secret is used. */
  readonly webhookSecret?: string;
  /** Where people reach the server, for links that decide. */
  readonly publicUrl?: string;
}

/** The channels, the export of the journal, and a webhook secret that is new, to be shown once. */
export interface CreatedChannels {
  readonly channels: readonly Channel[];
  readonly siem?: Siem;
  readonly newSecret?: string;
}

/** The names of the configured channels, as rules and people name them. */
export function channelNames({ channels, webhook }: ChannelChoice): readonly string[] {
  const { slack, email, push, rooms = [] } = channels;
  const given = { webhook, slack, email, push };
  const own = Object.entries(given).flatMap(([name, channel]) => (channel === undefined ? [] : [name]));
  return [...own, ...rooms.map(({ name }) => name)];
}

/** The configured channels, on a ledger. Throws `invalid-option`. */
export async function createChannels(ledger: Ledger, choice: ChannelChoice): Promise<CreatedChannels> {
  const { slack, email, push, rooms = [], siem } = choice.channels;
  const own: Channel[] = rooms.map(createRoomChannel);
  if (slack !== undefined) own.push(createSlackChannel({ ...slack, ledger }));
  const at = choice.publicUrl === undefined ? {} : { publicUrl: choice.publicUrl };
  if (email !== undefined) own.push((await loadEmail()).createEmailChannel({ ...email, ...at, ledger }));
  if (push !== undefined) own.push(createPushChannel({ ...push, ledger }));
  const exported = siem === undefined ? {} : { siem: createSiem({ ...siem, ledger }) };
  if (choice.webhook === undefined) return { channels: own, ...exported };
  const { secrets, made } = await webhookSecrets(ledger, choice.webhookSecret);
  const { webhookAnswers } = choice.channels;
  const answers = webhookAnswers === undefined ? {} : { answers: { ...webhookAnswers, ledger } };
  const webhook = createWebhookChannel({ url: choice.webhook, secrets, ...answers });
  const [newSecret] = made ? secrets : [];
  return { channels: [webhook, ...own], ...exported, ...(newSecret === undefined ? {} : { newSecret }) };
}

/** Its package is needed only by those who send mails. */
async function loadEmail(): Promise<{ readonly createEmailChannel: typeof createEmailChannel }> {
  try {
    return await import("../../channels/email/index.ts");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("nodemailer")) throw cause;
    throw new CountersignError(
      "missing-package",
      "Sending mails needs nodemailer. Run `npm install nodemailer`.",
      {
        cause,
      },
    );
  }
}
