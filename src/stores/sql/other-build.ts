import { CountersignError } from "../../protocol/index.ts";

/** The schema has a version number that this build knows, but is a different schema. */
export function otherBuild(ledger: string, version: number): CountersignError {
  return new CountersignError(
    "ledger-mismatch",
    `The ledger "${ledger}" has schema ${version} of a different build of Countersign, with different tables. ` +
      "Use the build that created it, or create a new ledger.",
    { details: { ledger, found: version } },
  );
}
