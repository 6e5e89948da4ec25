import { setTimeout as sleep } from "node:timers/promises";
import type { FoundStandby, StandbyProblem } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Database, openStandbys } from "../connection/index.ts";
import { LONGEST_AGE_MS, Marks } from "./marks.ts";
import { Standby } from "./standby.ts";

/** A standby may be about to get what a migration has just made. */
const GET_LIMIT_MS = 3_000;
const GET_PAUSE_MS = 100;

/** The ledger's `standbys`, each of which can also be looked at. */
export interface OpenStandbys {
  readonly all: readonly Standby[];
  find(maxAgeMs: number): Promise<FoundStandby | StandbyProblem>;
  close(): Promise<void>;
}

/**
 * The standbys that a URL names. Throws `invalid-option` where one of them has another ledger. One that does not answer, or
 * is none any more, is found out about later: the primary is read meanwhile.
 */
export async function openLedgerStandbys(
  url: string,
  ledger: { readonly database: Database; readonly digestKey: Uint8Array },
): Promise<OpenStandbys> {
  const standbys = await openAll(url, ledger);
  try {
    await Promise.all(standbys.all.map(refuseStranger));
    return standbys;
  } catch (error) {
    await standbys.close();
    throw error;
  }
}

/** The same, whatever they are. */
export async function openAll(
  url: string,
  { database, digestKey }: { readonly database: Database; readonly digestKey: Uint8Array },
): Promise<OpenStandbys> {
  const followed = { marks: new Marks(database), digestKey };
  const databases = await openStandbys(url, database.schema);
  return new ManyStandbys(databases.map((each) => new Standby(each, followed)));
}

class ManyStandbys implements OpenStandbys {
  readonly all: readonly Standby[];
  #turn = 0;

  constructor(all: readonly Standby[]) {
    this.all = all;
  }

  /** Each is asked in its turn; the last one is given a moment to be as new. */
  async find(maxAgeMs: number): Promise<FoundStandby | StandbyProblem> {
    const oldest = performance.now() - Math.min(maxAgeMs, LONGEST_AGE_MS);
    let problem: StandbyProblem = "unreachable";
    const first = this.#turn++ % this.all.length;
    const inTurn = [...this.all.slice(first), ...this.all.slice(0, first)];
    for (const [i, standby] of inTurn.entries()) {
      const found = await standby.find(oldest, { wait: i === inTurn.length - 1 });
      if (typeof found !== "string") return found;
      problem = found;
    }
    return problem;
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((standby) => standby.close()));
  }
}

async function refuseStranger(standby: Standby): Promise<void> {
  for (const startedAt = performance.now(); ; await sleep(GET_PAUSE_MS)) {
    if ((await standby.look()) !== "other-ledger") return;
    if (performance.now() - startedAt > GET_LIMIT_MS) break;
  }
  throw new CountersignError(
    "invalid-option",
    `Lists cannot be read from "${standby.name}": it has another ledger, or none. Use a standby of the ledger's server in COUNTERSIGN_READ_URL, with the same database.`,
    { details: { option: "readUrl", ledger: standby.name } },
  );
}
