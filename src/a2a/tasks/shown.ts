import type { ConfirmationRecord, Ledger } from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { TaskView } from "./read-task.ts";
import { type TaskRef, taskIdOf } from "./task-id.ts";

const KIND = "a2a-shown";
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;

/** What clients were shown of a task in the older form, by `shownAs`. */
export interface Shown {
  /** What was shown first, if that is all that the task had asked. */
  readonly first: readonly string[];
  /** Those of the last time. */
  readonly last: readonly string[];
}

/**
 * Stores which questions a client is about to be shown in the older form. Its answers may name no question, so they can
 * be only about what every client was shown. On disk before the client sees them.
 */
export async function rememberShown(ledger: Ledger, { ref, open, events, now }: TaskView): Promise<void> {
  if (open.length === 0) return;
  const asked = events.flatMap(({ asks = [] }) => asks.map(({ id }) => id));
  const isAll = asked.every((id) => open.some(({ confirmation }) => confirmation.id === id));
  const last = open.map(({ confirmation }) => shownAs(confirmation));
  const id = taskIdOf(ref);
  for (;;) {
    const kept = await ledger.items.get(KIND, id);
    const known = kept === undefined ? undefined : shownOf(kept.value);
    if (known !== undefined && isSame(known.last, last)) return;
    const value = { first: [...(known?.first ?? (isAll ? last : []))], last };
    const expiresAt = now + REMEMBERED_MS;
    if (await ledger.items.put({ kind: KIND, id, value, expiresAt }, kept?.version ?? 0)) return;
  }
}

/** The name of a question in its current version. */
export function shownAs({ id, shownVersion }: ConfirmationRecord): string {
  return `${id}@${shownVersion}`;
}

/** What was shown of a task in the older form. */
export async function shownIn(ledger: Ledger, ref: TaskRef): Promise<Shown> {
  return shownOf((await ledger.items.get(KIND, taskIdOf(ref)))?.value);
}

function shownOf(value: JsonValue | undefined): Shown {
  const kept = isJsonObject(value) ? value : {};
  return { first: textsIn(member(kept, "first")), last: textsIn(member(kept, "last")) };
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return isJsonArray(value) ? value.map(String) : [];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, index) => id === other[index]);
}
