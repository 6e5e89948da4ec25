import { PAST_ALL_IDS } from "../sql/confirmation-rows.ts";
import type { Narrowing } from "./confirmation-filter.ts";

/** What is searched for: takes the two values of {@link FITS}. */
export interface Search {
  /** What is read of each that fits. */
  readonly columns: string;
  readonly patterns: readonly [first: string, others: string];
  readonly narrowing: Narrowing;
}

/**
 * Of a row `e` of `searchable`. Most rows fail at the first pattern, which is much cheaper to compare than a list.
 */
export const FITS =
  "instr(e.words, ?) > 0 and not exists (select 1 from json_each(?) wanted where instr(e.words, wanted.value) = 0)";

/** With a space before it a word is looked for where one begins. The longest first: likely to be the rarest. */
export function toPatterns(words: readonly string[]): Search["patterns"] {
  const [first = "", ...others] = words.map((word) => ` ${word}`).sort((a, b) => b.length - a.length);
  return [first, JSON.stringify(others)];
}

/** The range of all words that begin with this one. */
export function beginningWith(word: string): readonly [from: string, before: string] {
  return [word, word + PAST_ALL_IDS];
}
