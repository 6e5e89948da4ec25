import { ask, client, type Outcome } from "../../api/client.ts";
import type { Notice } from "../../api/types.ts";
import { Store, useStore } from "../../ui/store.ts";
import { usePolling } from "../../ui/use-polling.ts";
import { board } from "../inbox/board.ts";

const LOOK_EVERY_MS = 15_000;

const notices: Store<readonly Notice[]> = new Store<readonly Notice[]>([]);

/** Asks the server once more. What was known stays where it cannot be asked. */
async function lookForNotices(): Promise<void> {
  const found = await ask(client.notices.list());
  if (found.ok) notices.set(found.value.items);
}

/** Hides one from everybody. */
export async function acknowledge({ id }: Notice): Promise<Outcome<Notice>> {
  const done = await ask(client.notices.acknowledge(id));
  if (done.ok || done.problem.status === 404) await lookForNotices();
  return done;
}

/** What the ledger was noticed to have lost; nothing for whoever may not know. Looked for all the time that the page is seen. */
export function useNotices(): { readonly items: readonly Notice[]; readonly mayAcknowledge: boolean } {
  const { me, connection } = useStore(board);
  const items = useStore(notices);
  const scopes = me?.principal.scopes ?? [];
  const mayKnow = scopes.includes("decide") || scopes.includes("admin");
  // A stream that breaks off and comes back may be the failover itself.
  usePolling(lookForNotices, { isOn: mayKnow, everyMs: LOOK_EVERY_MS, restart: connection });
  return { items: mayKnow ? items : [], mayAcknowledge: scopes.includes("admin") };
}
