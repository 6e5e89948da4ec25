import { go } from "../../router.ts";
import { Store } from "../../ui/store.ts";
import { held, heldFor } from "../confirmation/decide/held.ts";
import { board } from "./board.ts";

/** The ids in the list as it is shown, in its order. */
export const shownIds: Store<readonly string[]> = new Store<readonly string[]>([]);

/** Opens the next one that waits after this one, or else the first that waits. False where nothing else waits. */
export function advance(from: string): boolean {
  const ids = shownIds.value;
  const start = ids.indexOf(from) + 1;
  const next = [...ids.slice(start), ...ids.slice(0, start)].find((id) => id !== from && isFree(id));
  if (next !== undefined) go("confirmations", next);
  return next !== undefined;
}

/** Opens the one before or after this one; the first where this one is not in the list. */
export function step(from: string | undefined, by: 1 | -1): void {
  const ids = shownIds.value;
  const index = from === undefined ? -1 : ids.indexOf(from);
  const next = ids[index < 0 ? 0 : index + by];
  if (next !== undefined) go("confirmations", next);
}

function isFree(id: string): boolean {
  const one = board.value.confirmations.get(id);
  return one?.status === "requested" && one.can.decide && heldFor(held.value, id) === undefined;
}
