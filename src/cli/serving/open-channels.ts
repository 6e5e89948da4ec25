import { type Channel, startDeliveries } from "../../channels/index.ts";
import type { Engine } from "../../engine/index.ts";
import { cardLink, type Logger, type Metrics } from "../../http/index.ts";

/** The running channels. */
export interface OpenChannels {
  stop(): Promise<void>;
}

/** The channels, and the base of the links. */
export interface ChannelOptions {
  readonly channels: readonly Channel[];
  readonly publicUrl: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Starts sending to the configured channels. */
export function openChannels({ ledger }: Engine, options: ChannelOptions): OpenChannels {
  const { channels, publicUrl, log, metrics } = options;
  if (channels.length === 0) return { stop: async () => {} };
  return startDeliveries({
    ledger,
    channels: channels.map((channel) => counted(channel, metrics)),
    link: (id) => cardLink({ publicUrl, basePath: "/" }, id),
    onFailure: (failure) => log.warn(failure, "a message could not be delivered"),
    onError: (err) => log.error({ err }, "reading the outbox failed"),
  });
}

/** The same channel, counting the result of each message. */
function counted(channel: Channel, metrics: Metrics): Channel {
  return {
    ...channel,
    tell: async (notice, signal) => {
      const told = await channel.tell(notice, signal);
      metrics.add("deliveries", { channel: channel.name, outcome: told.ok ? "delivered" : "failed" });
      return told;
    },
  };
}
