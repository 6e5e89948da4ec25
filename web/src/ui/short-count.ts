/** A count in at most three digits and letters: `7`, `940`, `1k+`, `10k`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  return `${Math.floor(count / 1000)}k${count % 1000 === 0 ? "" : "+"}`;
}
