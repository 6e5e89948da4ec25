import { WEEK_MS } from "./scenario.ts";

/** Half of the values are at most the first, 95 % at most the second, all at most the third. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** What is counted in a simulation. */
export interface Counts {
  /** Calls that agents wanted to make. */
  calls: number;
  /** They ran without a question. */
  ran: number;
  /** They ran under a grant. */
  granted: number;
  /** A rule denied them. */
  forbidden: number;
  /** Refused because too many questions of the agent were open. */
  refused: number;
  asked: number;
  /** Asked, and none of the approvers can ever decide it. */
  unanswerable: number;
  approved: number;
  denied: number;
  expired: number;
  /** Steps of escalation that were reached before a decision. */
  escalated: number;
  votes: number;
  /** Somebody read a question that was closed meanwhile. */
  wasted: number;
}

export type Counted = keyof Counts;

/** The numbers of a week, or of all weeks. */
export class Period {
  readonly counts: Counts = {
    calls: 0,
    ran: 0,
    granted: 0,
    forbidden: 0,
    refused: 0,
    asked: 0,
    unanswerable: 0,
    approved: 0,
    denied: 0,
    expired: 0,
    escalated: 0,
    votes: 0,
    wasted: 0,
  };
  /** For how long the queue had each length, in milliseconds. */
  readonly lengths: Map<number, number> = new Map();
  readonly decisionMs: number[] = [];
  /** By approver. */
  readonly votes: number[];
  readonly busyMs: number[];
  readonly presentMs: number[];

  constructor(approvers: number) {
    const zeros = (): number[] => Array.from({ length: approvers }, () => 0);
    [this.votes, this.busyMs, this.presentMs] = [zeros(), zeros(), zeros()];
  }
}

/** The numbers of a simulation, by week and in total. */
export class Measures {
  readonly total: Period;
  readonly weeks: readonly Period[];
  readonly #start: number;
  readonly #end: number;
  #queueSince: number;
  #queueLength = 0;

  constructor({ start, end }: { readonly start: number; readonly end: number }, approvers: number) {
    this.#start = start;
    this.#end = end;
    this.#queueSince = start;
    this.total = new Period(approvers);
    const count = Math.max(1, Math.ceil((end - start) / WEEK_MS));
    this.weeks = Array.from({ length: count }, () => new Period(approvers));
  }

  count(at: number, what: Counted): void {
    for (const { counts } of this.#periods(at)) counts[what] += 1;
  }

  decided(at: number, tookMs: number): void {
    for (const { decisionMs } of this.#periods(at)) decisionMs.push(tookMs);
  }

  voted(at: number, approver: number): void {
    this.count(at, "votes");
    for (const { votes } of this.#periods(at)) votes[approver] = (votes[approver] ?? 0) + 1;
  }

  busy(at: number, approver: number, ms: number): void {
    for (const { busyMs } of this.#periods(at)) busyMs[approver] = (busyMs[approver] ?? 0) + ms;
  }

  present(at: number, approver: number, ms: number): void {
    for (const { presentMs } of this.#periods(at)) presentMs[approver] = (presentMs[approver] ?? 0) + ms;
  }

  /** The queue has this length from now on. */
  queue(at: number, length: number): void {
    let since = this.#queueSince;
    while (since < at) {
      const until = Math.min(at, this.#start + (this.#weekOf(since) + 1) * WEEK_MS);
      for (const { lengths } of this.#periods(since))
        lengths.set(this.#queueLength, (lengths.get(this.#queueLength) ?? 0) + until - since);
      since = until;
    }
    this.#queueSince = at;
    this.#queueLength = length;
  }

  finish(): void {
    this.queue(this.#end, this.#queueLength);
  }

  #weekOf(at: number): number {
    return Math.floor((at - this.#start) / WEEK_MS);
  }

  #periods(at: number): readonly Period[] {
    const week = this.weeks[Math.min(this.#weekOf(at), this.weeks.length - 1)];
    return week === undefined ? [this.total] : [this.total, week];
  }
}

/** Undefined where there are no values. */
export function quantilesOf(values: readonly number[]): Quantiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** Quantiles of lengths, each weighted by how long it lasted. */
export function weightedQuantiles(lengths: ReadonlyMap<number, number>): Quantiles {
  const sorted = [...lengths].sort(([one], [other]) => one - other);
  const all = sorted.reduce((sum, [, ms]) => sum + ms, 0);
  const at = (share: number): number => {
    let passed = 0;
    for (const [length, ms] of sorted) {
      passed += ms;
      if (passed >= all * share) return length;
    }
    return sorted.at(-1)?.[0] ?? 0;
  };
  return { p50: at(0.5), p95: at(0.95), max: sorted.at(-1)?.[0] ?? 0 };
}
