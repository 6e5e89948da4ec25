import type { JsonObject } from "../../protocol/index.ts";
import { copyJson, TransientMap } from "../common/index.ts";
import type { Commit, SessionName, StoredItem } from "../ledger/index.ts";
import type { ItemKey, Store } from "./store.ts";

/** Whose state a session's is. */
type StateName = Pick<SessionName, "app" | "user">;

/** What was read with the claim of a call. */
interface Claimed {
  readonly state: JsonObject;
  /** How often this process had changed state when the claim was sent. */
  readonly changes: number;
}

/** The keys of a session's state, and how often this process had changed state when they were asked for. */
export interface StateQuery {
  readonly keys: readonly ItemKey[];
  readonly changes: number;
}

/** What sessions, users and apps keep for tools. */
export class SessionStates {
  readonly #store: Pick<Store, "items">;
  /** Reads that have not begun. */
  readonly #reads = new TransientMap<string, Promise<JsonObject>>();
  readonly #claimed = new TransientMap<string, Claimed>();
  #changes = 0;

  constructor(store: Pick<Store, "items">) {
    this.#store = store;
  }

  async read(session: string, name: () => Promise<StateName | undefined>): Promise<JsonObject> {
    const claimed = this.#claimed.get(session);
    if (claimed?.changes === this.#changes) return copyJson(claimed.state);
    // The calls of a turn start together: those who ask at the same moment are answered by one read.
    return copyJson(await (this.#reads.get(session) ?? this.#readSoon(session, name)));
  }

  /** What to read with a commit, because it claims a call: its tool starts at once, and asks for the state. */
  wantedBy({ session: { key }, owner, writes }: Commit, name: StateName): StateQuery | undefined {
    if (owner === undefined || !writes.some((write) => isClaim(write, owner))) return undefined;
    // What a commit writes is not seen by what is read with it.
    return writesState(writes) ? undefined : { keys: keysOf(key, name), changes: this.#changes };
  }

  /** A commit was answered, or its answer lost: from now on its writes are seen. */
  answered({ writes }: Commit): void {
    if (writesState(writes)) this.#changes += 1;
  }

  /** What was read with a claim: for tools that start at that moment. Who asks later reads it anew. */
  keep(session: string, items: readonly StoredItem[], { changes }: StateQuery): void {
    const claimed = { state: toState(items), changes };
    this.#claimed.set(session, claimed);
    setImmediate(() => {
      if (this.#claimed.get(session) === claimed) this.#claimed.delete(session);
    });
  }

  #readSoon(session: string, name: () => Promise<StateName | undefined>): Promise<JsonObject> {
    const read = Promise.resolve().then(async () => {
      this.#reads.delete(session);
      const known = await name();
      return known === undefined ? {} : toState(await this.#store.items(keysOf(session, known)));
    });
    this.#reads.set(session, read);
    return read;
  }
}

function keysOf(session: string, { app, user }: StateName): readonly ItemKey[] {
  return [
    { kind: "state of app", id: JSON.stringify([app]) },
    { kind: "state of user", id: JSON.stringify([app, user]) },
    { kind: "state of session", id: session },
  ];
}

// Not with `Object.assign`: a member may be called `__proto__`.
function toState(items: readonly StoredItem[]): JsonObject {
  return items.reduce<JsonObject>((all, { value }) => ({ ...all, ...(value as JsonObject) }), {});
}

function isClaim(write: Commit["writes"][number], owner: string): boolean {
  if (write.kind === "call-insert") return write.call.owner === owner;
  return write.kind === "call-update" && write.set.owner === owner;
}

function writesState(writes: Commit["writes"]): boolean {
  return writes.some(({ kind }) => kind === "state" || kind === "erase");
}
