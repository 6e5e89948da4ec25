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
 * All of these together. Where people are named, the rule "requester" is dropped, and `notRequester` of one applies to
 * all. The same people asked for twice are asked for once, with the higher count.
 */
export function addUp(
  requirements: readonly Requirement[],
  { notRequester = false }: { readonly notRequester?: boolean } = {},
): readonly Requirement[] {
  const named = requirements.filter(({ from }) => from !== "requester");
  const apart = notRequester || named.some(({ from }) => from !== "requester" && from.notRequester === true);
  if (named.length === 0 && apart) return [{ from: { notRequester: true }, count: highest(requirements) }];
  return merged(named.length === 0 ? requirements : named, apart);
}

function merged(requirements: readonly Requirement[], apart: boolean): readonly Requirement[] {
  const found = new Map<string, Requirement>();
  for (const { from, count, group } of requirements) {
    const people = from === "requester" || !apart ? from : { ...from, notRequester: true };
    const key = JSON.stringify([group ?? null, keyOf(people)]);
    const first = found.get(key) ?? { from: people, count, ...(group === undefined ? {} : { group }) };
    found.set(key, { ...first, count: Math.max(count, first.count) });
  }
  return [...found.values()];
}

function highest(requirements: readonly Requirement[]): number {
  return Math.max(1, ...requirements.map(({ count }) => count));
}

function keyOf(from: Approvers): unknown {
  if (from === "requester") return from;
  const { roles = [], users = [] } = from;
  return [[...new Set(roles)].sort(), [...new Set(users)].sort()];
}
