import { isJsonObject, member } from "../../protocol/index.ts";
import { sameJson } from "../common/index.ts";
import { type GrantLimits, isShared } from "../ledger/index.ts";
import { amountOf, isMore, ZERO } from "./amount.ts";

/** What an approver wants to grant. What is left out is as far as the rules allow; the scope is the session. */
export type GrantTerms = Partial<GrantLimits>;

/** Why these limits mean nothing; undefined if they are sound. */
export function flawOfLimits(limits: GrantLimits): string | undefined {
  const { scope = "session", forMs, count, sum = {}, where = [] } = limits;
  if (!SCOPES.has(scope)) return "`scope` must be session or user";
  if (!isCount(forMs)) return "`forMs` must be a whole number, 1 or more";
  if (!isCount(count)) return "`count` must be a whole number, 1 or more";
  const flawed = flawOfConditions(where);
  if (flawed !== undefined) return flawed;
  if (!isJsonObject(sum)) return "`sum` must be an object with an amount for each argument";
  for (const [argument, most] of Object.entries(sum)) {
    const amount = amountOf(most);
    if (amount === undefined || !isMore(amount, ZERO))
      return `the sum of ${argument} must be a number greater than 0 with at most 15 digits`;
  }
  return undefined;
}

const SCOPES: ReadonlySet<unknown> = new Set(["session", "user"]);
const MOST_CONDITIONS = 10;
const LONGEST_CONDITION = 1_000;

function flawOfConditions(where: unknown): string | undefined {
  const isCondition = (one: unknown): boolean =>
    typeof one === "string" && one.trim() !== "" && one.length <= LONGEST_CONDITION && one.isWellFormed();
  return Array.isArray(where) && where.length <= MOST_CONDITIONS && where.every(isCondition)
    ? undefined
    : `\`where\` must be a list of at most ${MOST_CONDITIONS} conditions, each with at most ${LONGEST_CONDITION} characters`;
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
    ...scopeOf(limits.every(isShared)),
    forMs: Math.min(...limits.map(({ forMs }) => forMs)),
    count: Math.min(...limits.map(({ count }) => count)),
    ...(sums.size === 0 ? {} : { sum: Object.fromEntries(sums) }),
    ...conditions(limits.flatMap(({ where = [] }) => where)),
  };
}

function scopeOf(shared: boolean): Pick<GrantLimits, "scope"> {
  return shared ? { scope: "user" } : {};
}

/** Each once, and in an order that does not matter. */
function conditions(where: readonly string[]): Pick<GrantLimits, "where"> {
  return where.length === 0 ? {} : { where: [...new Set(where)].toSorted() };
}

/** Do these limits go no further than that? */
export function isWithin(limits: GrantLimits, most: GrantLimits): boolean {
  if (isShared(limits) && !isShared(most)) return false;
  if (limits.forMs > most.forMs || limits.count > most.count) return false;
  if (!(most.where ?? []).every((condition) => limits.where?.includes(condition))) return false;
  return Object.entries(most.sum ?? {}).every(([argument, sum]) => {
    const given = member(limits.sum ?? {}, argument);
    return given !== undefined && given <= sum;
  });
}

export function sameLimits(one: GrantLimits | undefined, other: GrantLimits | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const nothing = { scope: "session", sum: {}, where: [] };
  return sameJson({ ...nothing, ...one }, { ...nothing, ...other });
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
  const sum = sumsIn(most, asked);
  const { where: own = [], scope = "session" } = asked;
  const flawed = flawOfConditions(own);
  if (flawed !== undefined) return refused(`The grant cannot be given: ${flawed}.`);
  const limits = { ...most, ...asked, scope, sum, where: [...(most.where ?? []), ...own] };
  const flaw = flawOfLimits(limits);
  if (flaw !== undefined) return refused(`The grant cannot be given: ${flaw}.`);
  if (!isWithin(limits, most)) return refused(`The grant goes too far. ${describeMost(most)}`);
  const { sum: sums, where, forMs, count } = limits;
  const plain = { ...scopeOf(isShared(limits)), forMs, count };
  return {
    ok: true,
    limits: { ...plain, ...(Object.keys(sums).length === 0 ? {} : { sum: sums }), ...conditions(where) },
  };
}

// What is no object is found out later.
function sumsIn({ sum: most }: GrantLimits, { sum }: GrantTerms): NonNullable<GrantLimits["sum"]> {
  return isJsonObject(sum) || sum === undefined ? { ...most, ...sum } : sum;
}

const TERMS: ReadonlySet<string> = new Set<keyof GrantLimits>(["scope", "forMs", "count", "sum", "where"]);

function describeMost(limits: GrantLimits): string {
  const { forMs, count, sum = {} } = limits;
  const sums = Object.entries(sum).map(([argument, most]) => `, ${most} in sum of ${argument}`);
  return `At most ${forMs} ms, ${count} calls${sums.join("")}${isShared(limits) ? "" : ", in this session"}.`;
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
