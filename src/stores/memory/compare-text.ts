/** In the order of UTF-8 bytes, as the cold tier has it. That of `<` differs where there are surrogates. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const common = Math.min(a.length, b.length);
  for (let at = 0; at < common; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

const SURROGATES = 0xd800;
const BEHIND_SURROGATES = 0xe000;

// A surrogate is half of a character that comes after all others.
function rank(unit: number): number {
  return unit >= SURROGATES && unit < BEHIND_SURROGATES ? unit + SURROGATES : unit;
}
