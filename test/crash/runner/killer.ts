import type { Ledger } from "../../../src/index.ts";
import { watchCommits } from "../../support/ledger/ledger-proxy.ts";

/** Where a process can be struck: around a commit, in a tool's body before or after its effect, at a provider. */
export const PLACES = ["before", "after", "enter", "effect", "provider", "answer"] as const;
export type Place = (typeof PLACES)[number];

/** Kill yourself when you come to this place for the n-th time; the first is 1. */
export interface CommitStrike {
  readonly place: Place;
  readonly n: number;
}

/** Kills its own process, for good, where it was told to once it is armed. */
export class CommitKiller {
  #strike: CommitStrike | undefined;
  #left = 0;

  arm(strike: CommitStrike | undefined): void {
    this.#strike = strike;
    this.#left = strike?.n ?? 0;
  }

  reach(place: Place): void {
    if (place !== this.#strike?.place) return;
    this.#left -= 1;
    if (this.#left === 0) process.kill(process.pid, "SIGKILL");
  }
}

/** A ledger at whose commits the process can be struck. */
export function deadly(inner: Ledger, killer: CommitKiller): Ledger {
  return watchCommits(inner, {
    before: () => killer.reach("before"),
    after: () => killer.reach("after"),
  });
}
