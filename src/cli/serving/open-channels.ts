import { type Channel, startDeliveries } from "../../channels/index.ts";
import { createWebhookChannel, webhookSecrets } from "../../channels/webhook/index.ts";
import type { Engine } from "../../engine/index.ts";
import { cardLink, type Logger, type Metrics } from "../../http/index.ts";

/** The running channels. */
export interface OpenChannels {
  /** A new secret, shown once, for checking the messages. */
  readonly newSecret?: string;
  stop(): Promise<void>;
}

/** The recipients, and the base of the links. */
export interface ChannelOptions {
  readonly webhook: string | undefined;
  /** Signs the messages; if not given, the ledger's own secret is used. */
  readonly webhookSecret: string | undefined;
  readonly publicUrl: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Starts the configured channels. */
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

/** The same channel, counting the result of each message. */
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
