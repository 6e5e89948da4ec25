import { type Clock, type Ledger, systemClock } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { Channel } from "./channel.ts";
import { ChannelDeliveries, type DeliveryFailure } from "./channel-deliveries.ts";
import { DEFAULT_DELIVERY_SETTINGS, type DeliverySettings } from "./delivery-settings.ts";

export interface DeliveriesOptions extends Partial<DeliverySettings> {
  readonly ledger: Ledger;
  readonly channels: readonly Channel[];
  /** Where a person decides a confirmation. */
  readonly link?: (confirmationId: string) => string;
  readonly clock?: Clock;
  readonly onFailure?: (failure: DeliveryFailure) => void;
  /** What a look at the ledger could not do; it is tried again with the next one. */
  readonly onError?: (error: unknown) => void;
}

export interface Deliveries {
  /** Takes up nothing more; what is being sent gets a moment to end, and is sent again later if it does not. */
  stop(): Promise<void>;
}

/**
 * Tells channels what the journal says from now on, and what they were still to be told: at least once, again until
 * it arrives or is given up, and whichever process dies. Processes on one ledger that have the same channel share its
 * work. Nothing of a decision waits for this.
 */
export function startDeliveries(options: DeliveriesOptions): Deliveries {
  const { ledger, channels, link, clock = systemClock, onFailure, onError, ...given } = options;
  const names = new Set(channels.map(({ name }) => name));
  if (names.size < channels.length) {
    throw new CountersignError(
      "invalid-option",
      "Two channels have the same name. Channel names must be unique.",
      {
        details: { field: "channels" },
      },
    );
  }
  const settings: DeliverySettings = { ...DEFAULT_DELIVERY_SETTINGS, ...given };
  const release = clock.hold();
  const running = channels.map(
    (channel) =>
      new ChannelDeliveries({
        ledger,
        channel,
        clock,
        settings,
        link,
        onFailure: onFailure ?? (() => {}),
        onError: onError ?? (() => {}),
      }),
  );
  return {
    async stop() {
      await Promise.all(running.map((each) => each.stop()));
      release();
    },
  };
}
