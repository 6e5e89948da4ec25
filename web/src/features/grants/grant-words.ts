import type { GrantLimits } from "../../api/types.ts";

const UNITS: readonly (readonly [size: number, one: string, many: string])[] = [
  [86_400_000, "day", "days"],
  [3_600_000, "hour", "hours"],
  [60_000, "minute", "minutes"],
  [1_000, "second", "seconds"],
];

/** Exactly so long, in the largest unit that has no rest. */
export function exactSpan(ms: number): string {
  for (const [size, one, many] of UNITS) {
    if (ms >= size && ms % size === 0) return ms === size ? `1 ${one}` : `${ms / size} ${many}`;
  }
  return `${ms} milliseconds`;
}

/** The spans to choose from: usual ones, and the longest that may be granted. */
export function spansUpTo(longestMs: number): readonly number[] {
  const usual = [5 * 60_000, 15 * 60_000, 3_600_000, 8 * 3_600_000, 86_400_000];
  return [...usual.filter((ms) => ms < longestMs), longestMs];
}

/** What a grant is about. */
interface GrantSubject {
  readonly tool: string;
  readonly agent: string;
  readonly session: string;
  readonly user: string;
}

/** What is granted, word for word. */
export function grantSentence(
  { tool, agent, session, user }: GrantSubject,
  { scope, forMs, count, sum = {}, where = [] }: GrantLimits,
): string {
  const sessions = scope === "user" ? `any session for ${user}` : `the session ${session}`;
  const calls = count === 1 ? "1 further call" : `${count} further calls`;
  const sums = Object.entries(sum).map(
    ([argument, most]) => `, as long as “${argument}” adds up to no more than ${most}`,
  );
  return `For ${exactSpan(forMs)} from the approval, up to ${calls} of ${tool} by the agent ${agent} in ${sessions} run without asking${sums.join("")}${conditions(where)}.`;
}

/** The limits in a few words. */
export function shortLimits({ scope, forMs, count, sum = {}, where = [] }: GrantLimits): string {
  const sums = Object.entries(sum).map(([argument, most]) => ` · ${argument} up to ${most} in sum`);
  const sessions = scope === "user" ? " · all sessions" : "";
  return `${exactSpan(forMs)} · ${count === 1 ? "1 call" : `${count} calls`}${sessions}${sums.join("")}${conditions(where)}`;
}

function conditions(where: readonly string[]): string {
  return where.length === 0 ? "" : `, only where ${where.join(" and ")}`;
}

/** What was typed, as limits; or what is wrong with it. */
export function readLimits(
  most: GrantLimits,
  typed: {
    readonly scope: "session" | "user";
    readonly forMs: number;
    readonly count: string;
    readonly sum: { readonly [name: string]: string };
    readonly where: string;
  },
): { readonly ok: true; readonly limits: GrantLimits } | { readonly ok: false; readonly fault: string } {
  const count = Number(typed.count);
  if (!Number.isSafeInteger(count) || count < 1 || count > most.count)
    return { ok: false, fault: `The number of calls must be from 1 to ${most.count}.` };
  const sums = readSums(most, typed.sum);
  if (typeof sums === "string") return { ok: false, fault: sums };
  const own = typed.where.trim();
  const where = [...new Set([...(most.where ?? []), ...(own === "" ? [] : [own])])];
  return {
    ok: true,
    limits: {
      ...(typed.scope === "user" ? { scope: "user" } : {}),
      forMs: typed.forMs,
      count,
      ...sums,
      ...(where.length === 0 ? {} : { where }),
    },
  };
}

/** The sums that were typed, or what is wrong with one. */
function readSums(
  most: GrantLimits,
  typed: { readonly [name: string]: string },
): Pick<GrantLimits, "sum"> | string {
  const sums: (readonly [string, number])[] = [];
  for (const [argument, limit] of Object.entries(most.sum ?? {})) {
    const text = typed[argument] ?? String(limit);
    const value = Number(text);
    const fits = /^\d{1,15}(\.\d{1,15})?$/.test(text) && value > 0 && value <= limit;
    if (!fits) return `The sum of ${argument} must be more than 0 and at most ${limit}.`;
    sums.push([argument, value]);
  }
  return sums.length === 0 ? {} : { sum: Object.fromEntries(sums) };
}
