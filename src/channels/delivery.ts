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
import { isFor, isWanted, missingChannels, noticesOf, noticeTypeOf } from "./notices.ts";

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
  /** Errors of a poll; the work is tried again at the next one. Also: a question names only channels that do not run. */
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
  const warnOnce = onceForEach(onError ?? (() => {}));
  const release = clock.hold();
  const running = channels.map(
    (channel) =>
      new OutboxWorker({
        ledger,
        queue: { name: channel.name, wants: (record) => isWanted(noticeTypeOf(record), channel) },
        clock,
        settings,
        sender: (taken) => {
          const read = noticesOf(ledger, taken, reading);
          return async (delivery, signal) => {
            const notice = await read(delivery);
            if (notice === undefined) return { ok: true };
            const missing = missingChannels(notice, names);
            if (missing.length > 0) warnOnce(missing);
            else if (!isFor(notice, channel)) return { ok: true };
            return channel.tell(notice, signal);
          };
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

/** Reports channels that questions name and that do not run: each list once, as every notice of a question has it. */
function onceForEach(onError: (error: unknown) => void): (missing: readonly string[]) => void {
  const reported = new Set<string>();
  return (missing) => {
    const list = JSON.stringify(missing);
    if (reported.has(list)) return;
    reported.add(list);
    const message =
      `A question names the channels ${list} (notify), but none of them runs here. All channels announce it ` +
      "instead. Correct notify in the policy, or configure the channel.";
    onError(new CountersignError("invalid-option", message, { details: { field: "notify" } }));
  };
}
