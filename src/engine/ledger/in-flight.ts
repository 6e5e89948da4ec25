import { TransientMap } from "../common/index.ts";
import type { Commit } from "./commit.ts";

/**
 * Claims that were sent to the ledger and not answered yet. Until they are, it cannot be told from the ledger whether
 * this process is going to do what it holds.
 */
export class InFlight {
  readonly #ids = new TransientMap<string, number>();

  /** Counts what this commit claims until the returned function is called. */
  send(commit: Commit): () => void {
    const ids = claimedIn(commit);
    if (ids.length === 0) return nothing;
    for (const id of ids) this.#ids.set(id, (this.#ids.get(id) ?? 0) + 1);
    return () => {
      for (const id of ids) {
        const left = (this.#ids.get(id) ?? 1) - 1;
        if (left === 0) this.#ids.delete(id);
        else this.#ids.set(id, left);
      }
    };
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}

const nothing = (): void => {};

function claimedIn({ owner, writes }: Commit): readonly string[] {
  if (owner === undefined) return [];
  const ids: string[] = [];
  for (const write of writes) {
    if (write.kind === "call-insert" && write.call.owner === owner) ids.push(write.call.id);
    else if (write.kind === "frame-insert" && write.frame.owner === owner) ids.push(write.frame.id);
    else if ((write.kind === "call-update" || write.kind === "frame-update") && write.set.owner === owner)
      ids.push(write.id);
  }
  return ids;
}
