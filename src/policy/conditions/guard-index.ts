import type { CallFacts } from "../call-facts.ts";
import type { Guard, Order, OrderGuard } from "./guard.ts";
import { LONGEST_LIST } from "./strict-values.ts";

/** A guard, and the place of the condition that has it. */
interface Placed<Any extends Guard = Guard> {
  readonly guard: Any;
  readonly place: number;
}

/** Says which conditions the value of their fact leaves open. False if it says nothing: then all are open. */
type Opener = (value: unknown, open: (place: number) => void) => boolean;

interface Group {
  readonly path: readonly string[];
  readonly opener: Opener;
  /** The call that it was looked up for last. */
  call: number;
  isOpen: boolean;
}

/** A group that is smaller is not worth looking up. */
const FEWEST = 4;

/**
 * Finds out which of many conditions cannot hold, without judging each: the value of a fact is looked up once for all
 * that compare it. Only what is certain counts: where a comparison has no value (the fact is missing, or of another
 * type), the condition is judged, and fails closed as always.
 */
export class GuardIndex {
  readonly #groups: readonly (Group | undefined)[];
  /** By place, the last call that it is open for. */
  readonly #openFor: Float64Array;
  #call = 0;
  #facts: Partial<CallFacts> = {};

  constructor(guards: readonly (Guard | undefined)[]) {
    this.#openFor = new Float64Array(guards.length);
    this.#groups = groupsOf(guards);
  }

  /** Is there anything to be looked up for the condition at this place? */
  has(place: number): boolean {
    return this.#groups[place] !== undefined;
  }

  /** To be called before {@link canHold} is asked about a call. */
  begin(facts: Partial<CallFacts>): void {
    this.#call += 1;
    this.#facts = facts;
  }

  /** May the condition at this place hold, or fail, for the call? */
  canHold(place: number): boolean {
    const group = this.#groups[place];
    if (group === undefined) return true;
    if (group.call !== this.#call) this.#lookUp(group);
    return group.isOpen || this.#openFor[place] === this.#call;
  }

  #lookUp(group: Group): void {
    group.call = this.#call;
    group.isOpen = !group.opener(valueAt(this.#facts, group.path), (place) => {
      this.#openFor[place] = this.#call;
    });
  }
}

function groupsOf(guards: readonly (Guard | undefined)[]): readonly (Group | undefined)[] {
  const found = Map.groupBy(
    guards.flatMap((guard, place) => (guard === undefined ? [] : [{ guard, place }])),
    ({ guard }) => JSON.stringify([guard.path, guard.kind, typeOf(guard)]),
  );
  const groups: (Group | undefined)[] = guards.map(() => undefined);
  for (const members of found.values()) {
    const [first] = members;
    if (first === undefined || members.length < FEWEST) continue;
    const group = { path: first.guard.path, opener: openerOf(members, first.guard), call: 0, isOpen: true };
    for (const { place } of members) groups[place] = group;
  }
  return groups;
}

/** Conditions with the same are looked up together. */
function typeOf(guard: Guard): string {
  return guard.kind === "order" ? guard.operator : typeof guard.values[0];
}

function openerOf(members: readonly Placed[], guard: Guard): Opener {
  if (guard.kind === "order") return inOrder(guard.operator, members as readonly Placed<OrderGuard>[]);
  const byValue = members.flatMap(({ guard: one, place }) =>
    one.kind === "order" ? [] : one.values.map((value) => ({ value, place })),
  );
  const places = Map.groupBy(byValue, ({ value }) => value);
  const openAt: OpenAt = (value, open) => {
    for (const { place } of places.get(value) ?? []) open(place);
  };
  return guard.kind === "has" ? ofItems(openAt) : ofValue(typeOf(guard), openAt);
}

type OpenAt = (value: string | number, open: (place: number) => void) => void;

function ofValue(type: string, openAt: OpenAt): Opener {
  return (given, open) => {
    const value = typeof given === "bigint" ? toNumber(given) : given;
    if (typeof value !== type || Number.isNaN(value)) return false;
    openAt(value as string | number, open);
    return true;
  };
}

function ofItems(openAt: OpenAt): Opener {
  return (list, open) => {
    if (!Array.isArray(list) || list.length > LONGEST_LIST) return false;
    if (!list.every((one) => typeof one === "string")) return false;
    for (const one of list) openAt(one, open);
    return true;
  };
}

function toNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const HOLDS: { readonly [operator in Order]: (value: number, than: number) => boolean } = {
  "<": (value, than) => value < than,
  "<=": (value, than) => value <= than,
  ">": (value, than) => value > than,
  ">=": (value, than) => value >= than,
};

/** The limits that are met come first: the first that is not met ends it. */
function inOrder(operator: Order, members: readonly Placed<OrderGuard>[]): Opener {
  const holds = HOLDS[operator];
  const isRising = operator === ">" || operator === ">=";
  const sorted = members.toSorted(({ guard: a }, { guard: b }) =>
    isRising ? a.value - b.value : b.value - a.value,
  );
  return (given, open) => {
    const value = typeof given === "bigint" ? toNumber(given) : given;
    if (typeof value !== "number" || Number.isNaN(value)) return false;
    for (const { guard, place } of sorted) {
      if (!holds(value, guard.value)) break;
      open(place);
    }
    return true;
  };
}

/** The value under these members; undefined if there is none. */
function valueAt(facts: Partial<CallFacts>, [variable = "", ...members]: readonly string[]): unknown {
  let value: unknown = facts[variable as keyof CallFacts];
  for (const name of members) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as { readonly [name: string]: unknown })[name];
  }
  return value;
}
