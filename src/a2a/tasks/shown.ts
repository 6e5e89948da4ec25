import type { ConfirmationRecord, Ledger } from "../../engine/index.ts";
import { isJsonArray } from "../../protocol/index.ts";
import type { TaskView } from "./read-task.ts";
import { type TaskRef, taskIdOf } from "./task-id.ts";

const KIND = "a2a-shown";
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Stores which questions a client is about to be shown in the older form. Its answers name no question, so only shown
 * questions can be approved. On disk before the client sees them.
 */
export async function rememberShown(ledger: Ledger, { ref, open, now }: TaskView): Promise<void> {
  if (open.length === 0) return;
  const ids = open.map(({ confirmation }) => shownAs(confirmation));
  const id = taskIdOf(ref);
  for (;;) {
    const kept = await ledger.items.get(KIND, id);
    if (kept !== undefined && isSame(textsIn(kept.value), ids)) return;
    const expiresAt = now + REMEMBERED_MS;
    if (await ledger.items.put({ kind: KIND, id, value: ids, expiresAt }, kept?.version ?? 0)) return;
  }
}

/** The name of a question in its current version. */
export function shownAs({ id, shownVersion }: ConfirmationRecord): string {
  return `${id}@${shownVersion}`;
}

/** The names of the questions, as they were last shown of a task in the older form. */
export async function shownIn(ledger: Ledger, ref: TaskRef): Promise<readonly string[]> {
  return textsIn((await ledger.items.get(KIND, taskIdOf(ref)))?.value);
}

function textsIn(value: unknown): readonly string[] {
  return isJsonArray(value) ? value.map(String) : [];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, index) => id === other[index]);
}
