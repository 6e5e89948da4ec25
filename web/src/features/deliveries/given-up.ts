import { useEffect } from "react";
import { ask, client, type Outcome, type Problem } from "../../api/client.ts";
import type { GivenUpDelivery } from "../../api/types.ts";
import { Store, useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";

/** Messages that were given up, as far as they were looked for. */
export interface GivenUp {
  readonly items: readonly GivenUpDelivery[];
  /** There are more than these. */
  readonly hasMore: boolean;
  readonly problem?: Problem;
}

const LIMIT = 100;
const LOOK_EVERY_MS = 60_000;

const givenUp: Store<GivenUp | undefined> = new Store<GivenUp | undefined>(undefined);

/** Asks the server once more. */
export async function lookForGivenUp(): Promise<void> {
  const page = await ask(client.deliveries.list({ limit: LIMIT }));
  if (page.ok) givenUp.set({ items: page.value.items, hasMore: page.value.next !== undefined });
  else givenUp.set({ items: [], hasMore: false, ...givenUp.value, problem: page.problem });
}

/** Has one sent again; it is not shown any more until it fails anew. */
export async function sendAgain(delivery: GivenUpDelivery, key: string): Promise<Outcome<GivenUpDelivery>> {
  const sent = await ask(client.deliveries.retry(delivery, { idempotencyKey: key }));
  // Somebody else was faster: what is shown is old.
  if (sent.ok || sent.problem.status === 404) await lookForGivenUp();
  return sent;
}

/** What is known of it; nothing for whoever may not know. Looked for now, when the page is looked at again, and now and then. */
export function useGivenUp(): GivenUp | undefined {
  const { me } = useStore(board);
  const found = useStore(givenUp);
  const mayKnow = me?.principal.scopes.includes("admin") === true;
  useEffect(() => {
    if (!mayKnow) return undefined;
    const look = (): void => {
      if (document.visibilityState === "visible") lookForGivenUp().catch(() => undefined);
    };
    look();
    window.addEventListener("focus", look);
    const timer = window.setInterval(look, LOOK_EVERY_MS);
    return () => {
      window.removeEventListener("focus", look);
      window.clearInterval(timer);
    };
  }, [mayKnow]);
  return mayKnow ? found : undefined;
}
