import type { Part } from "./expression-compile.ts";
import { itemsOf, truth } from "./strict-values.ts";

interface Loop {
  readonly name: string;
  readonly on: Part;
  /** What the loop's variable is now. */
  readonly variable: { value: unknown };
  /** What is judged or computed for each item. */
  readonly bodies: readonly Part[];
}

/** A loop over the items of a list, or the keys of a map. */
export function loopOver(loop: Loop): Part {
  const { name, variable, bodies } = loop;
  const [first, second] = bodies;
  if (first === undefined) throw new TypeError(`${name}() takes a name and a condition`);
  if (name === "exists" || name === "all") return quantified(loop, first, name === "exists");
  const item: Part = () => variable.value;
  if (name === "exists_one") {
    const met = kept(loop, { keep: first, value: item });
    return (facts) => met(facts).length === 1;
  }
  if (name === "filter") return kept(loop, { keep: first, value: item });
  return second === undefined ? kept(loop, { value: first }) : kept(loop, { keep: first, value: second });
}

/** One item may settle it, as in CEL: then it does not matter that it cannot be judged for others. */
function quantified({ on, variable }: Loop, condition: Part, settles: boolean): Part {
  return (facts) => {
    let failure: unknown;
    for (const item of itemsOf(on(facts))) {
      variable.value = item;
      try {
        if (truth(condition(facts)) === settles) return settles;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure instanceof Error) throw failure;
    return !settles;
  };
}

/** The values for those items that are kept. */
function kept(
  { on, variable }: Loop,
  { keep, value }: { readonly keep?: Part; readonly value: Part },
): (...facts: Parameters<Part>) => readonly unknown[] {
  return (facts) => {
    const found: unknown[] = [];
    for (const item of itemsOf(on(facts))) {
      variable.value = item;
      if (keep === undefined || truth(keep(facts))) found.push(value(facts));
    }
    return found;
  };
}
