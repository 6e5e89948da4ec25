import type { JsonValue } from "../protocol/index.ts";
import type { PastCall } from "./backtest.ts";

/** A grant that past decisions support. */
export interface GrantSuggestion {
  readonly rule: string;
  readonly tool: string;
  /** As the rule would say it: `{ longest: 1h, count: 5, sum: { arg: amount, most: 120 } }`. */
  readonly grants: string;
  /** How many questions it would have saved, all of them approved. */
  readonly approvals: number;
}

/** No suggestion goes further. */
const LONGEST_MS = 3_600_000;
const MOST_USES = 20;
const LEAST_APPROVALS = 20;
const MOST_SERIES = 1_000;
const MOST_CALLS = 10_000;
/** A text that may be an amount, or that replaces a redacted value. */
const MAY_BE_AMOUNT = /\d|^\[redacted\]$/;
const NAME = /^[A-Za-z_]\w*$/;

interface Approved {
  readonly at: number;
  /** No argument could hide an amount: nested ones, redacted ones and texts with digits could. */
  readonly isPlain: boolean;
  readonly numbers: ReadonlyMap<string, number>;
}

interface Series {
  readonly rule: string;
  readonly tool: string;
  /** By session, agent and requesters: a grant is for one of each. */
  readonly runs: Map<string, Approved[]>;
  count: number;
  /** Somebody denied a call of it. */
  denied: boolean;
}

/** Finds grants that would have saved questions which people only ever approved. */
export class GrantHistory {
  readonly #series = new Map<string, Series>();

  /** A question that this rule alone asks, and allows no grant for. */
  add(rule: string, { call, decided }: PastCall): void {
    if (decided !== "approved" && decided !== "denied") return;
    const { tool } = call;
    const key = JSON.stringify([rule, tool]);
    if (!this.#series.has(key) && this.#series.size >= MOST_SERIES) return;
    const series: Series = this.#series.get(key) ?? { rule, tool, runs: new Map(), count: 0, denied: false };
    this.#series.set(key, series);
    if (decided === "denied") series.denied = true;
    if (series.denied || series.count >= MOST_CALLS) return;
    series.count += 1;
    const run = JSON.stringify([call.app, call.session, call.agent, call.requesters.toSorted()]);
    const numbers = new Map(
      Object.entries(call.shown).flatMap(([name, value]) =>
        typeof value === "number" ? [[name, value] as const] : [],
      ),
    );
    const calls = series.runs.get(run) ?? [];
    calls.push({ at: call.at, numbers, isPlain: Object.values(call.shown).every(isPlain) });
    series.runs.set(run, calls);
  }

  suggestions(): readonly GrantSuggestion[] {
    return [...this.#series.values()].flatMap((series) => suggestionFrom(series) ?? []);
  }
}

function suggestionFrom({ rule, tool, runs, denied }: Series): GrantSuggestion | undefined {
  if (denied) return undefined;
  const argument = summedIn([...runs.values()].flat());
  if (argument === undefined) return undefined;
  const uses = [...runs.values()].flatMap(usesOf);
  const approvals = uses.reduce((sum, one) => sum + one.length, 0);
  if (approvals < LEAST_APPROVALS) return undefined;
  const count = Math.max(...uses.map(({ length }) => length));
  const most = Math.max(...uses.map((one) => sumOf(one, argument)));
  const sum = argument === "" ? "" : `, sum: { arg: ${argument}, most: ${most} }`;
  return { rule, tool, grants: `{ longest: 1h, count: ${count}${sum} }`, approvals };
}

function isPlain(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return !MAY_BE_AMOUNT.test(value);
  return typeof value !== "object" || value === null;
}

/**
 * The one number among the arguments, whose sum a grant has to limit; empty if there is none. Undefined if there are
 * several, if there may be others, or if it cannot be added up: a grant would not limit them all.
 */
function summedIn(calls: readonly Approved[]): string | undefined {
  if (!calls.every((call) => call.isPlain)) return undefined;
  const names = new Set(calls.flatMap(({ numbers }) => [...numbers.keys()]));
  if (names.size > 1) return undefined;
  const [name = ""] = names;
  if (name === "") return name;
  const isSound = NAME.test(name) && calls.every(({ numbers }) => isAmount(numbers.get(name)));
  return isSound && calls.some(({ numbers }) => numbers.get(name) !== 0) ? name : undefined;
}

function isAmount(value: number | undefined): boolean {
  return value !== undefined && Number.isFinite(value) && value >= 0 && value < 1e12;
}

/** What grants would have let run, had each first approval granted as much as possible. */
function usesOf(calls: readonly Approved[]): readonly (readonly Approved[])[] {
  const found: Approved[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const call of calls.toSorted((a, b) => a.at - b.at)) {
    const last = found.at(-1);
    if (last !== undefined && call.at < end && last.length < MOST_USES) last.push(call);
    else {
      found.push([]);
      end = call.at + LONGEST_MS;
    }
  }
  return found;
}

/** Rounded up to whole units. */
function sumOf(calls: readonly Approved[], name: string): number {
  return Math.ceil(calls.reduce((sum, { numbers }) => sum + (numbers.get(name) ?? 0), 0));
}
