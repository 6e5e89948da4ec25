import { type Channel, startDeliveries } from "../../channels/index.ts";
import { createWebhookChannel, webhookSecrets } from "../../channels/webhook/index.ts";
import type { Engine } from "../../engine/index.ts";
import { cardLink, type Logger, type Metrics } from "../../http/index.ts";

/** What tells people elsewhere of what waits. */
export interface OpenChannels {
  /** A secret that was made just now, to be shown once to whoever checks the messages. */
  readonly newSecret?: string;
  stop(): Promise<void>;
}

/** Who is to be told, and what they are told to open. */
export interface ChannelOptions {
  readonly webhook: string | undefined;
  /** Signs what is sent; the ledger has one of its own where none is given. */
  readonly webhookSecret: string | undefined;
  readonly publicUrl: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Starts the channels that were asked for. */
export async function openChannels({ ledger }: Engine, options: ChannelOptions): Promise<OpenChannels> {
  const { webhook: url, publicUrl, log, metrics } = options;
  if (url === undefined) return { stop: async () => {} };
  const { secrets, made } = await webhookSecrets(ledger, options.webhookSecret);
  const deliveries = startDeliveries({
    ledger,
    channels: [counted(createWebhookChannel({ url, secrets }), metrics)],
    link: (id) => cardLink({ publicUrl, basePath: "/" }, id),
    onFailure: (failure) => log.warn(failure, "a message could not be delivered"),
    onError: (err) => log.error({ err }, "reading the outbox failed"),
  });
  const [newSecret] = made ? secrets : [];
  return { ...(newSecret === undefined ? {} : { newSecret }), stop: () => deliveries.stop() };
}

/** The same channel, and a count of what came of each message. */
function counted(channel: Channel, metrics: Metrics): Channel {
  return {
    name: channel.name,
    tell: async (notice, signal) => {
      const told = await channel.tell(notice, signal);
      metrics.add("deliveries", { channel: channel.name, outcome: told.ok ? "delivered" : "failed" });
      return told;
    },
  };
}
