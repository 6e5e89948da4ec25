import type { PolicyCall, PolicyNote, PolicySource, PolicyVerdict } from "../engine/index.ts";
import { GrantHistory, type GrantSuggestion } from "./suggest-grants.ts";

/** A past call: what the rules said then, and what people decided. */
export interface PastCall {
  /** The id of its question, or of the call if there is none. */
  readonly id: string;
  readonly call: PolicyCall;
  /** It ran without a question, a person was asked, or a rule denied it. */
  readonly was: "ran" | "asked" | "denied";
  /** What made it need a person. */
  readonly why: readonly string[];
  readonly policy: readonly PolicyNote[];
  /** How the question ended; undefined if it is open, or there was none. */
  readonly decided?: "approved" | "denied" | "expired" | "cancelled" | undefined;
}

/** Calls that a policy would treat differently. */
export interface Difference {
  readonly count: number;
  readonly approved: number;
  readonly denied: number;
  /** The first of them; of those that people denied, if there are any. */
  readonly examples: readonly string[];
}

/** An exception or a grant that past decisions support. It is never applied automatically. */
export type Suggestion = ExceptionSuggestion | GrantSuggestion;

export interface ExceptionSuggestion {
  readonly rule: string;
  readonly tool: string;
  readonly unless: string;
  /** How many questions it would have saved, all of them approved. */
  readonly approvals: number;
}

/** What a policy would have said about past calls. */
export interface BacktestReport {
  readonly calls: number;
  readonly stopsAsking: Difference;
  readonly newlyAsks: Difference;
  readonly newlyDenies: Difference;
  readonly stopsDenying: Difference;
  readonly suggestions: readonly Suggestion[];
}

const MOST_EXAMPLES = 20;
const LEAST_APPROVALS = 20;
const MOST_SUGGESTIONS = 20;
const MOST_SERIES = 1_000;
const MOST_VALUES = 10_000;

/** Compares a policy with what was done and decided. Calls are added one by one; only sums are kept. */
export class Backtest {
  readonly #policy: PolicySource;
  readonly #stopsAsking = new Tally();
  readonly #newlyAsks = new Tally();
  readonly #newlyDenies = new Tally();
  readonly #stopsDenying = new Tally();
  readonly #series = new Map<string, Series>();
  readonly #grants = new GrantHistory();
  #calls = 0;

  constructor(policy: PolicySource) {
    this.#policy = policy;
  }

  add(past: PastCall): void {
    this.#calls += 1;
    const said = [this.#policy.judge(past.call) ?? []].flat().filter(({ observe }) => observe !== true);
    const denies = said.some(({ outcome }) => outcome === "deny");
    const asks = said.filter(({ outcome }) => outcome === "confirm");
    if (denies) {
      if (past.was !== "denied") this.#newlyDenies.add(past);
    } else if (past.was === "denied") this.#stopsDenying.add(past);
    else if (past.was === "ran") {
      if (asks.length > 0) this.#newlyAsks.add(past);
    } else if (asks.length === 0 && onlyRulesAsked(past)) this.#stopsAsking.add(past);
    if (past.was !== "asked") return;
    for (const { rule } of asks) if (rule !== undefined) this.#note(rule, past);
    this.#noteGrant(asks, past);
  }

  report(): BacktestReport {
    const suggestions: readonly Suggestion[] = [
      ...[...this.#series.values()].flatMap((series) => suggestionFrom(series) ?? []),
      ...this.#grants.suggestions(),
    ];
    return {
      calls: this.#calls,
      stopsAsking: this.#stopsAsking.told(),
      newlyAsks: this.#newlyAsks.told(),
      newlyDenies: this.#newlyDenies.told(),
      stopsDenying: this.#stopsDenying.told(),
      suggestions: suggestions.toSorted((a, b) => b.approvals - a.approvals).slice(0, MOST_SUGGESTIONS),
    };
  }

  // Nothing can be granted where somebody else asks, too.
  #noteGrant(asks: readonly PolicyVerdict[], past: PastCall): void {
    const [only, ...others] = asks;
    if (only?.rule === undefined || only.grants !== undefined || others.length > 0) return;
    if (onlyRulesAsked(past)) this.#grants.add(only.rule, past);
  }

  // Which values of a number people approved and denied, for each rule and tool.
  #note(rule: string, { call, decided }: PastCall): void {
    if (decided !== "approved" && decided !== "denied") return;
    for (const [name, value] of Object.entries(call.shown)) {
      if (typeof value !== "number" || !NAME.test(name)) continue;
      const key = JSON.stringify([rule, call.tool, name]);
      const series = this.#series.get(key) ?? newSeries(rule, call.tool, name);
      if (!this.#series.has(key) && this.#series.size >= MOST_SERIES) continue;
      this.#series.set(key, series);
      if (decided === "denied") series.leastDenied = Math.min(series.leastDenied, value);
      else if (series.approved.length < MOST_VALUES) series.approved.push(value);
    }
  }
}

const NAME = /^[A-Za-z_]\w*$/;

interface Series {
  readonly rule: string;
  readonly tool: string;
  readonly name: string;
  readonly approved: number[];
  leastDenied: number;
}

function newSeries(rule: string, tool: string, name: string): Series {
  return { rule, tool, name, approved: [], leastDenied: Number.POSITIVE_INFINITY };
}

// Up to the ninth tenth of what people approved, and only below everything that they denied.
function suggestionFrom({
  rule,
  tool,
  name,
  approved,
  leastDenied,
}: Series): ExceptionSuggestion | undefined {
  const below = approved.filter((value) => value >= 0 && value < leastDenied).toSorted((a, b) => a - b);
  const most = below[Math.ceil(below.length * 0.9) - 1];
  if (most === undefined) return undefined;
  const approvals = below.filter((value) => value <= most).length;
  if (approvals < LEAST_APPROVALS) return undefined;
  const limit = Number.isInteger(most) ? `${most}.0` : String(most);
  return { rule, tool, unless: `args.${name} >= 0.0 && args.${name} <= ${limit}`, approvals };
}

/** Did nobody but rules ask? What a tool's author asks for, no policy can take away. */
function onlyRulesAsked({ why, policy }: PastCall): boolean {
  const reasons = policy
    .flatMap(({ rules }) => rules)
    .filter(({ outcome, observe }) => outcome === "confirm" && observe !== true)
    .map(({ rule, reason }) => (rule === undefined ? (reason ?? "") : `policy rule ${rule}`));
  return why.length > 0 && why.every((one) => reasons.some((reason) => startsAs(one, reason)));
}

function startsAs(why: string, reason: string): boolean {
  return why === reason || why.startsWith(`${reason}:`) || why.startsWith(`${reason} (`);
}

class Tally {
  #count = 0;
  #approved = 0;
  #denied = 0;
  readonly #examples: string[] = [];
  readonly #deniedExamples: string[] = [];

  add({ id, decided }: PastCall): void {
    this.#count += 1;
    if (decided === "approved") this.#approved += 1;
    if (decided === "denied") this.#denied += 1;
    const list = decided === "denied" ? this.#deniedExamples : this.#examples;
    if (list.length < MOST_EXAMPLES) list.push(id);
  }

  told(): Difference {
    const examples = this.#deniedExamples.length > 0 ? this.#deniedExamples : this.#examples;
    return { count: this.#count, approved: this.#approved, denied: this.#denied, examples };
  }
}
