/** Does a name match? */
type Glob = (name: string) => boolean;

const SPECIAL = /[[\]{}\\]|^!/;

/** Why a pattern for names is refused, if it is. */
export function flawOfGlob(pattern: string): string | undefined {
  if (pattern === "") return "is empty; use * for every name";
  if (SPECIAL.test(pattern))
    return `is "${pattern}"; only * and ? are wildcards; sets and escapes are not supported`;
  return undefined;
}

/** Has the pattern no wildcard? */
function isPlain(pattern: string): boolean {
  return !/[*?]/.test(pattern);
}

/**
 * A matcher of whole names: `*` is any number of characters, `?` is one. Upper and lower case differ. It takes at most
 * the product of both lengths.
 */
export function globOf(pattern: string): Glob {
  if (isPlain(pattern)) return (name) => name === pattern;
  if (pattern === "*") return () => true;
  const wanted = Array.from(pattern);
  return (name) => matches(wanted, Array.from(name));
}

function matches(pattern: readonly string[], name: readonly string[]): boolean {
  let [p, n] = [0, 0];
  // Where to go on if what follows the last star does not fit.
  let star = -1;
  let after = 0;
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++;
      after = n;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++after;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
