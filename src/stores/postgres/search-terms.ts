// A lexeme may have 2,046 bytes; a word's beginning is enough to find it by.
const LONGEST_WORD = 200;

/** A word as it stands in the index. It has letters, digits and marks only: see `wordsOf`. */
export function toLexeme(word: string): string {
  return word.slice(0, LONGEST_WORD).toWellFormed();
}

/** All words, whole or by their beginning, as a `tsquery`. */
export function toQuery(words: readonly string[]): string {
  return words.map((word) => `'${toLexeme(word)}':*`).join(" & ");
}
