import { randomBytes } from "node:crypto";

// From a random start, so that no two processes give out the same ones.
let last = randomBytes(8).readBigInt64BE();

/** A number that no other commit or change has. */
export function newChangeId(): string {
  last = BigInt.asIntN(64, last + 1n);
  return last.toString();
}
