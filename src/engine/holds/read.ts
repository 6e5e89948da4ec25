import { CountersignError } from "../../protocol/index.ts";
import type { Ledger, Page, StoredItem } from "../ledger/index.ts";
import { fromItem, HOLD, type Hold } from "./hold.ts";

const PAGE = 1_000;

/** All holds. Throws if one of them cannot be read: then nothing may be erased. */
export async function allHolds(ledger: Pick<Ledger, "items">): Promise<readonly Hold[]> {
  const all: Hold[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page: Page<StoredItem> = await ledger.items.list(HOLD, { limit: PAGE, ...after });
    for (const item of page.items) all.push(readable(item));
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}

function readable(item: StoredItem): Hold {
  const hold = fromItem(item);
  if (hold !== "unreadable") return hold;
  throw new CountersignError(
    "under-hold",
    `The hold ${item.id} cannot be read, so nothing may be erased. Release it, and place it again.`,
    { details: { hold: item.id } },
  );
}
