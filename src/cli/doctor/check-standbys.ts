import type { StandbyProblem } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { listStandbys } from "../../stores/index.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const ABOUT = "lists";
const MEANWHILE = "Until then lists are read from the primary.";

/** The standbys that lists are to be read from, if there are any: is each one of this ledger's, and as new? */
export async function checkStandbys(url: string, readUrl: string | undefined): Promise<readonly Finding[]> {
  try {
    return (await listStandbys(url, readUrl)).map(({ name, problem }) =>
      problem === undefined
        ? ok(ABOUT, `can be read from the standby ${name}, which has caught up`)
        : findingOf(name, problem),
    );
  } catch (error) {
    const message = CountersignError.isInstance(error) ? error.message : String(error);
    return [fail(ABOUT, message, "Check --read-url or COUNTERSIGN_READ_URL.")];
  }
}

function findingOf(name: string, problem: StandbyProblem): Finding {
  switch (problem) {
    case "other-ledger":
      return fail(
        ABOUT,
        `${name} has another ledger, or none; \`serve\` would not start with it.`,
        "Set COUNTERSIGN_READ_URL to a standby of the ledger's server, with the same database.",
      );
    case "promoted":
      return warn(
        ABOUT,
        `${name} is not a standby: it was promoted, or it is the primary.`,
        `Set COUNTERSIGN_READ_URL to a standby. ${MEANWHILE}`,
      );
    case "behind":
      return warn(
        ABOUT,
        `The standby ${name} is behind: it had not caught up after a quarter of a second.`,
        `Check its replication. ${MEANWHILE}`,
      );
    default:
      return warn(ABOUT, `The standby ${name} cannot be read.`, `Check that it runs. ${MEANWHILE}`);
  }
}
