import type { Approvers } from "./principal.ts";

/** People of whom `count` different persons must approve. */
export interface Requirement {
  readonly from: Approvers;
  /** 1 or more. */
  readonly count: number;
  /** The policy's name of the group, if it is one: who belongs to it is looked up again when votes are counted. */
  readonly group?: string;
}

/** One approval by one of these people. */
export function oneApproval(from: Approvers): readonly Requirement[] {
  return [{ from, count: 1 }];
}

/**
 * All of these together. `notRequester` of one applies to all; then the requester is not asked. The same people asked
 * for twice are asked for once, with the higher count.
 */
export function addUp(
  requirements: readonly Requirement[],
  { notRequester = false }: { readonly notRequester?: boolean } = {},
): readonly Requirement[] {
  const named = requirements.filter(({ from }) => from !== "requester");
  const apart = notRequester || named.some(isApart);
  if (named.length === 0 && apart) return [{ from: { notRequester: true }, count: highest(requirements) }];
  return merged(apart ? named : requirements, apart);
}

/**
 * Who must approve a question in the place of another one: whoever had to before, and whoever has to now. Where only the
 * requester had to, whom the rules name now approves instead. Of a group, those who are in it now, as many as before.
 */
export function stillRequired(
  before: readonly Requirement[],
  asked: readonly Requirement[],
): readonly Requirement[] {
  if (asked.length > 0 && before.every(({ from }) => from === "requester")) return addUp(asked);
  const kept = before.filter((one) => !asked.some((now) => isSameGroup(one, now)));
  const now = asked.map((one) => {
    const counts = before.filter((then) => isSameGroup(one, then)).map(({ count }) => count);
    return { ...one, count: Math.max(one.count, ...counts) };
  });
  return addUp([...kept, ...now], { notRequester: before.some(isApart) });
}

function isSameGroup({ group }: Requirement, other: Requirement): boolean {
  return group !== undefined && group === other.group;
}

function isApart({ from }: Requirement): boolean {
  return from !== "requester" && from.notRequester === true;
}

/** Is this requirement part of that one, which several were added up to? */
export function isPartOf(one: Requirement, sum: Requirement): boolean {
  if (keyOf(one) === keyOf(sum)) return true;
  // Where the requester may not approve, anybody else does.
  return one.from === "requester" && keyOf(sum) === keyOf({ from: { notRequester: true } });
}

/** Do these let the same people fill in? */
export function sameEscalation(one: Escalating, other: Escalating): boolean {
  const apart = ({ to }: Escalating): boolean => to !== "requester" && to.notRequester === true;
  const people = ({ to: from, group }: Escalating): string => keyOf({ from, group: group ?? null });
  return people(one) === people(other) && apart(one) === apart(other);
}

interface Escalating {
  readonly to: Approvers;
  readonly group?: string;
}

function merged(requirements: readonly Requirement[], apart: boolean): readonly Requirement[] {
  const found = new Map<string, Requirement>();
  for (const { from, count, group } of requirements) {
    const people = from === "requester" || !apart ? from : { ...from, notRequester: true };
    const key = keyOf({ from: people, ...(group === undefined ? {} : { group }) });
    const first = found.get(key) ?? { from: people, count, ...(group === undefined ? {} : { group }) };
    found.set(key, { ...first, count: Math.max(count, first.count) });
  }
  return [...found.values()];
}

function highest(requirements: readonly Requirement[]): number {
  return Math.max(1, ...requirements.map(({ count }) => count));
}

function keyOf({ from, group = null }: { readonly from: Approvers; readonly group?: string | null }): string {
  if (from === "requester") return JSON.stringify([group, from]);
  const { roles = [], users = [] } = from;
  return JSON.stringify([group, [...new Set(roles)].sort(), [...new Set(users)].sort()]);
}
