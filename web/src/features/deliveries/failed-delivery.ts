import { ask, client, type Outcome, type Problem } from "../../api/client.ts";
import type { FailedDelivery } from "../../api/types.ts";
import { Store, useStore } from "../../ui/store.ts";
import { usePolling } from "../../ui/use-polling.ts";
import { board } from "../inbox/board.ts";

/** The undelivered messages that were loaded. */
export interface FailedDeliveries {
  readonly items: readonly FailedDelivery[];
  /** There are more than these. */
  readonly hasMore: boolean;
  readonly problem?: Problem;
}

const LIMIT = 100;
const LOOK_EVERY_MS = 60_000;

const failedDeliveries: Store<FailedDeliveries | undefined> = new Store<FailedDeliveries | undefined>(
  undefined,
);

/** Asks the server once more. */
export async function loadFailedDeliveries(): Promise<void> {
  const page = await ask(client.deliveries.list({ limit: LIMIT }));
  if (page.ok) failedDeliveries.set({ items: page.value.items, hasMore: page.value.next !== undefined });
  else failedDeliveries.set({ items: [], hasMore: false, ...failedDeliveries.value, problem: page.problem });
}

/** Sends one again; it is hidden until it fails again. */
export async function sendAgain(delivery: FailedDelivery, key: string): Promise<Outcome<FailedDelivery>> {
  const sent = await ask(client.deliveries.retry(delivery, { idempotencyKey: key }));
  // Somebody else was faster: what is shown is old.
  if (sent.ok || sent.problem.status === 404) await loadFailedDeliveries();
  return sent;
}

/**
 * The failed deliveries; none for people who may not see them. Loaded now, when the page becomes visible again, and
 * from time to time.
 */
export function useFailedDeliveries(): FailedDeliveries | undefined {
  const { me } = useStore(board);
  const found = useStore(failedDeliveries);
  const mayKnow = me?.principal.scopes.includes("admin") === true;
  usePolling(loadFailedDeliveries, { isOn: mayKnow, everyMs: LOOK_EVERY_MS });
  return mayKnow ? found : undefined;
}
