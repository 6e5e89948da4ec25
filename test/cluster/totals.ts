import type { Tally } from "../crash/lives.ts";
import type { Strike } from "./cluster.ts";

/** Adds up what ledgers came to. */
export class Totals {
  readonly records = new Map<string, number>();
  readonly struck = new Map<Strike, number>();
  refusals = 0;
  #ledgers = 0;
  #sessions = 0;
  #runs = 0;

  add(tally: Tally, struck: ReadonlyMap<Strike, number>): void {
    this.#ledgers += 1;
    this.#sessions += tally.sessions;
    this.#runs += tally.runs;
    this.refusals += tally.refusals;
    addUp(this.records, tally.records);
    addUp(this.struck, struck);
  }

  /** On one line, for whoever waits. */
  get text(): string {
    const rounds = [...this.struck.values()].reduce((sum, count) => sum + count, 0);
    const strikes = [...this.struck].map(([strike, count]) => `${count} ${strike}`).join(", ");
    const of = (kind: string): number => this.records.get(kind) ?? 0;
    return (
      `${rounds} rounds (${strikes}) on ${this.#ledgers} ledgers, ${this.#sessions} sessions, ` +
      `${this.#runs} bodies run, ${of("call-unknown")} unknown, ${of("late-result")} late results, ` +
      `${this.refusals} decisions lost a race, nothing found`
    );
  }
}

function addUp<Key>(sums: Map<Key, number>, counts: ReadonlyMap<Key, number>): void {
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
}
