import type { Commit } from "./commit.ts";

/**
 * Claims that were sent to the ledger and not answered yet. Until they are, it cannot be told from the ledger whether
 * this process is going to do what it holds.
 */
export class InFlight {
  readonly #ids = new Map<string, number>();

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
  return writes.flatMap((write) => {
    switch (write.kind) {
      case "call-insert":
        return write.call.owner === owner ? [write.call.id] : [];
      case "frame-insert":
        return write.frame.owner === owner ? [write.frame.id] : [];
      case "call-update":
      case "frame-update":
        return write.set.owner === owner ? [write.id] : [];
      default:
        return [];
    }
  });
}
