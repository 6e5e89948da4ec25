/** Are these the long proofs of `npm run test:all`, and not the short ones of `npm test`? */
export const isLong: boolean = process.env["COUNTERSIGN_LONG"] === "1";

/** How often something is tried: in `npm test`, and in `npm run test:all`; the variable, where it is set, overrides both. */
export function effort(counts: {
  readonly short: number;
  readonly long: number;
  readonly variable?: string;
}): number {
  const given = counts.variable === undefined ? undefined : process.env[counts.variable];
  return given === undefined ? (isLong ? counts.long : counts.short) : Number(given);
}
