import { type Channel, startDeliveries, type Told } from "../../channels/index.ts";
import type { Siem } from "../../channels/siem/index.ts";
import type { Engine } from "../../engine/index.ts";
import { cardLink, type Logger, type Metrics } from "../../http/index.ts";

/** The running channels. */
export interface OpenChannels {
  stop(): Promise<void>;
}

/** The channels, and the base of the links. */
export interface ChannelOptions {
  readonly channels: readonly Channel[];
  readonly siem: Siem | undefined;
  readonly publicUrl: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Starts sending to the configured channels, and exporting the journal. */
export async function openChannels(engine: Engine, options: ChannelOptions): Promise<OpenChannels> {
  const { channels, siem, log, metrics } = options;
  const running = [
    ...(channels.length === 0 ? [] : [await openDeliveries(engine, options)]),
    ...(siem === undefined
      ? []
      : [
          siem.start({
            onAttempt: (outcome) => metrics.add("deliveries", { channel: siem.name, outcome }),
            onProblem: (reason) => log.warn({ channel: siem.name, reason }, "exporting the journal"),
            onError: (err) => log.error({ err }, "exporting the journal failed"),
          }),
        ]),
  ];
  return {
    stop: async () => {
      await Promise.all(running.map((each) => each.stop()));
    },
  };
}

async function openDeliveries(engine: Engine, options: ChannelOptions): Promise<OpenChannels> {
  const { channels, publicUrl, log, metrics } = options;
  const { directory } = await engine.counting();
  return startDeliveries({
    ledger: engine.ledger,
    directory,
    channels: channels.map((channel) => counted(channel, metrics)),
    link: (id) => cardLink({ publicUrl, basePath: "/" }, id),
    onFailure: (failure) => log.warn(failure, "a message could not be delivered"),
    onError: (err) => log.error({ err }, "reading the outbox failed"),
  });
}

function outcomeOf(told: Told): string {
  if (told.ok) return "delivered";
  return told.isHeld ? "held" : "failed";
}

/** The same channel, counting the result of each message. */
function counted(channel: Channel, metrics: Metrics): Channel {
  return {
    ...channel,
    tell: async (notice, signal) => {
      const told = await channel.tell(notice, signal);
      metrics.add("deliveries", { channel: channel.name, outcome: outcomeOf(told) });
      return told;
    },
  };
}
