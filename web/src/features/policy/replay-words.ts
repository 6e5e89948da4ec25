import type { ReplayDifference } from "../../api/types.ts";

/** What would be different, in a sentence. */
export function differenceSentence(what: string, { count, approved, denied }: ReplayDifference): string {
  const times = count === 1 ? "once" : `${count} times`;
  const decided =
    approved + denied === 0 ? "" : `; people approved ${approved} and denied ${denied} of those`;
  return `${what} ${times}${decided}`;
}

/** Which calls the list below the sentence shows. */
export function examplesTitle({ count, denied, examples }: ReplayDifference): string {
  const which = denied > 0 ? "denied by people" : "for example";
  const total = denied > 0 ? denied : count;
  return examples.length < total ? `${which}, the first ${examples.length}` : which;
}
