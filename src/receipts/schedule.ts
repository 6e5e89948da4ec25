import { type Engine, partsOf, publishReceipts, type Receipt, type ReceiptTarget } from "../engine/index.ts";
import { repeat } from "../retention/index.ts";

/** Told what was published, and what was not. */
export interface PublishListener {
  published(receipt: Receipt): void;
  /** One target did not take it. It is tried again. */
  refused(target: string, reason: string): void;
  warned(target: string, warning: string): void;
  failed(error: unknown): void;
}

/**
 * Publishes whenever a target is due, if no other process does. When each target got its last receipt is stored in the
 * ledger, so any number of servers make one series. Returns what stops it.
 */
export function scheduleReceipts(
  engine: Engine,
  {
    targets,
    everyMs,
    listener,
  }: {
    readonly targets: readonly ReceiptTarget[];
    readonly everyMs: number;
    readonly listener: PublishListener;
  },
): () => Promise<void> {
  const parts = partsOf(engine);
  const publish = async (signal: AbortSignal): Promise<void> => {
    await publishReceipts(parts, {
      targets,
      everyMs,
      signal,
      onPublished: (receipt) => listener.published(receipt),
      onFailed: (target, reason) => listener.refused(target, reason),
      onWarning: (target, warning) => listener.warned(target, warning),
    });
  };
  return repeat(parts.clock, publish, (error) => listener.failed(error));
}
