const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee"] as const;
const PATTERNS = SCRIPTS.map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, "u") }));

/** Are there letters that could be of one of the look-alike scripts other than Latin? Quick, for long texts. */
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/**
 * The scripts of a word whose letters are drawn alike in several, when it mixes them: `pаypal` with a Cyrillic
 * а. Empty for any word of one script.
 */
export function mixedScripts(word: string): readonly string[] {
  if (!FOREIGN.test(word)) return [];
  const found = PATTERNS.filter(({ pattern }) => pattern.test(word)).map(({ name }) => name);
  return found.length > 1 ? found : [];
}

/** Words of a text that mix scripts, each once. */
export function mixedWords(text: string): readonly string[] {
  if (!FOREIGN.test(text)) return [];
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => mixedScripts(word).length > 0))];
}
