import { CountersignError } from "../../protocol/index.ts";

/** The schema has a number that this build knows, and is another one. */
export function otherBuild(ledger: string, version: number): CountersignError {
  return new CountersignError(
    "ledger-mismatch",
    `The ledger "${ledger}" has schema ${version} of another build of Countersign, in which that number means other tables; ` +
      "use the build that made it, or begin a new ledger with this one.",
    { details: { ledger, found: version } },
  );
}
