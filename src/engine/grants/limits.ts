import { isJsonObject, member } from "../../protocol/index.ts";
import { sameJson } from "../common/index.ts";
import type { GrantLimits } from "../ledger/index.ts";
import { amountOf, isMore, ZERO } from "./amount.ts";

/** What an approver wants to grant. What is left out is as far as the rules allow. */
export type GrantTerms = Partial<GrantLimits>;

/** Why these limits mean nothing; undefined if they are sound. */
export function flawOfLimits({ forMs, count, sum = {} }: GrantLimits): string | undefined {
  if (!isCount(forMs)) return "`forMs` must be a whole number, 1 or more";
  if (!isCount(count)) return "`count` must be a whole number, 1 or more";
  if (!isJsonObject(sum)) return "`sum` must be an object with an amount for each argument";
  for (const [argument, most] of Object.entries(sum)) {
    const amount = amountOf(most);
    if (amount === undefined || !isMore(amount, ZERO))
      return `the sum of ${argument} must be a number greater than 0 with at most 15 digits`;
  }
  return undefined;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** The most that all of these allow together; undefined if one allows nothing, or there are none. */
export function tightest(all: readonly (GrantLimits | undefined)[]): GrantLimits | undefined {
  const limits = all.filter((one) => one !== undefined);
  if (limits.length === 0 || limits.length < all.length) return undefined;
  const sums = new Map<string, number>();
  for (const { sum = {} } of limits)
    for (const [argument, most] of Object.entries(sum))
      sums.set(argument, Math.min(most, sums.get(argument) ?? most));
  return {
    forMs: Math.min(...limits.map(({ forMs }) => forMs)),
    count: Math.min(...limits.map(({ count }) => count)),
    ...(sums.size === 0 ? {} : { sum: Object.fromEntries(sums) }),
  };
}

/** Do these limits go no further than that? */
export function isWithin(limits: GrantLimits, most: GrantLimits): boolean {
  if (limits.forMs > most.forMs || limits.count > most.count) return false;
  return Object.entries(most.sum ?? {}).every(([argument, sum]) => {
    const given = member(limits.sum ?? {}, argument);
    return given !== undefined && given <= sum;
  });
}

export function sameLimits(one: GrantLimits | undefined, other: GrantLimits | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return sameJson({ ...one, sum: one.sum ?? {} }, { ...other, sum: other.sum ?? {} });
}

/** The limits of a grant that an approver asks for, or why it cannot be given. */
export function readTerms(
  most: GrantLimits | undefined,
  asked: GrantTerms,
): { readonly ok: true; readonly limits: GrantLimits } | { readonly ok: false; readonly message: string } {
  if (most === undefined) return refused("The rules that ask for this call allow no grant.");
  if (!isJsonObject(asked)) return refused("`grant` must be an object.");
  const unknown = Object.keys(asked).find((name) => !TERMS.has(name));
  if (unknown !== undefined) return refused(`\`grant\` has no member "${unknown}".`);
  const sum = isJsonObject(asked.sum) || asked.sum === undefined ? { ...most.sum, ...asked.sum } : asked.sum;
  const limits = { ...most, ...asked, sum };
  const flaw = flawOfLimits(limits);
  if (flaw !== undefined) return refused(`The grant cannot be given: ${flaw}.`);
  if (!isWithin(limits, most)) return refused(`The grant goes too far. ${describeMost(most)}`);
  const { sum: sums, ...plain } = limits;
  return { ok: true, limits: Object.keys(sums).length === 0 ? plain : limits };
}

const TERMS: ReadonlySet<string> = new Set<keyof GrantLimits>(["forMs", "count", "sum"]);

function describeMost({ forMs, count, sum = {} }: GrantLimits): string {
  const sums = Object.entries(sum).map(([argument, most]) => `, ${most} in sum of ${argument}`);
  return `At most ${forMs} ms, ${count} calls${sums.join("")}.`;
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
