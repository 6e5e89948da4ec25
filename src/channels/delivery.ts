import {
  type Clock,
  DEFAULT_DELIVERY_SETTINGS,
  type DeliveryFailure,
  type DeliverySettings,
  type Directory,
  type Ledger,
  OutboxWorker,
  systemClock,
} from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import type { Channel } from "./channel.ts";
import { isFor, isWanted, noticeTypeOf, readNotice } from "./notices.ts";

/** Options of {@link startDeliveries}. */
export interface DeliveriesOptions extends Partial<DeliverySettings> {
  readonly ledger: Ledger;
  readonly channels: readonly Channel[];
  /** Where a person decides a confirmation. */
  readonly link?: (confirmationId: string) => string;
  /** What the policy says about people, if the engine has one: pass the policy. */
  readonly directory?: Directory;
  readonly clock?: Clock;
  readonly onFailure?: (failure: DeliveryFailure) => void;
  /** Errors of a poll; the work is tried again at the next one. */
  readonly onError?: (error: unknown) => void;
}

/** Running deliveries; stop them before you close the engine. */
export interface Deliveries {
  /** Stops. Messages being sent get a moment to finish; otherwise they are sent again later. */
  stop(): Promise<void>;
}

/**
 * Sends journal events to channels: at least once, retried until they arrive or the delivery fails, whichever process
 * dies. Processes on one ledger with the same channel share its work. No decision waits for this.
 */
export function startDeliveries(options: DeliveriesOptions): Deliveries {
  const { ledger, channels, link, directory, clock = systemClock, onFailure, onError, ...given } = options;
  const reading = { ...(link && { link }), ...(directory && { directory }) };
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
      new OutboxWorker({
        ledger,
        queue: { name: channel.name, wants: (record) => isWanted(noticeTypeOf(record), channel) },
        clock,
        settings,
        send: async (delivery, signal) => {
          const notice = await readNotice(ledger, delivery, reading);
          return notice === undefined || !isFor(notice, channel)
            ? { ok: true }
            : channel.tell(notice, signal);
        },
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
