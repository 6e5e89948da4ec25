import type { Memo } from "../../engine/index.ts";
import { list, MEMO_COLUMNS } from "../sql/columns.ts";
import { toMemo } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const RECALL = `select ${list(MEMO_COLUMNS)} from memos where principal = ? and route = ? and key = ? and expires_at > ?`;
const DROP_EXPIRED = "delete from memos where expires_at <= ?";

export function recallMemo(
  database: Database,
  { principal, route, key }: Pick<Memo, "principal" | "route" | "key">,
  now: number,
): Memo | undefined {
  const row = database.get(RECALL, [principal, route, key, now]);
  return row && toMemo(row);
}

export function dropExpiredMemos(database: Database, now: number): void {
  database.run(DROP_EXPIRED, [now]);
}
