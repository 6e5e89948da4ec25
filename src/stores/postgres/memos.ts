import type { Memo } from "../../engine/index.ts";
import { list, MEMO_COLUMNS } from "../sql/columns.ts";
import { toMemo } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { NOW } from "./now.ts";

const RECALL = `select ${list(MEMO_COLUMNS)} from countersign.memos where principal = $1 and route = $2 and key = $3 and expires_at > ${NOW}`;
const DROP_EXPIRED = `delete from countersign.memos where expires_at <= ${NOW}`;

export async function recallMemo(
  database: Database,
  { principal, route, key }: Pick<Memo, "principal" | "route" | "key">,
): Promise<Memo | undefined> {
  const row = await database.get(RECALL, [principal, route, key]);
  return row && toMemo(row);
}

export async function dropExpiredMemos(database: Database): Promise<void> {
  await database.run(DROP_EXPIRED);
}
