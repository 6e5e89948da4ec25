import type { JsonObject } from "../../protocol/index.ts";
import type { Commit, SessionName, StoredItem } from "../ledger/index.ts";
import type { ItemKey } from "./store.ts";

/** Whose state a session's is. */
type StateName = Pick<SessionName, "app" | "user">;

/** The items that have the state which a session's tools see: later ones are laid over earlier ones. */
export function stateKeys(session: string, { app, user }: StateName): readonly ItemKey[] {
  return [
    { kind: "state of app", id: JSON.stringify([app]) },
    { kind: "state of user", id: JSON.stringify([app, user]) },
    { kind: "state of session", id: session },
  ];
}

// Not with `Object.assign`: a member may be called `__proto__`.
export function toState(items: readonly StoredItem[]): JsonObject {
  return items.reduce<JsonObject>((all, { value }) => ({ ...all, ...(value as JsonObject) }), {});
}

/** The state to read with a commit, because it claims a call: its tool starts at once, and asks for the state. */
export function wantedState(
  { session: { key }, owner, writes }: Commit,
  name: StateName,
): readonly ItemKey[] | undefined {
  if (owner === undefined || !writes.some((write) => isClaim(write, owner))) return undefined;
  return stateKeys(key, name);
}

function isClaim(write: Commit["writes"][number], owner: string): boolean {
  if (write.kind === "call-insert") return write.call.owner === owner;
  return write.kind === "call-update" && write.set.owner === owner;
}
