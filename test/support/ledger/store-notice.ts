import { createIds, type KeyValueStore } from "../../../src/engine/index.ts";
import { NoticeWriter } from "../../../src/engine/process/notices.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";

/** Stores a notice as a process `one` would that had noticed a loss; gives its id. */
export async function storeNotice(
  store: KeyValueStore,
  { message = "the ledger lost a commit", details = {}, now = Date.now }: StoredNoticeInput = {},
): Promise<string> {
  const [newId, made] = [createIds(), [] as string[]];
  const next = (): string => {
    const id = newId(now());
    made.push(id);
    return id;
  };
  const writer = new NoticeWriter({ store, now, newId: next, host: "one", pid: 7 });
  writer.add({ kind: "lost-commits", message, details });
  await writer.store();
  return made[0] ?? "";
}

export interface StoredNoticeInput {
  readonly message?: string;
  readonly details?: JsonObject;
  readonly now?: () => number;
}
