import type { StandbyProblem } from "../../../engine/index.ts";
import { openDatabase } from "../connection/index.ts";
import { openAll } from "./standbys.ts";

const DIGEST_KEY = "select value from countersign.meta where name = 'digest-key'";

/** What a server that lists are to be read from says of itself. */
export interface StandbyState {
  /** Its URL without the password. */
  readonly name: string;
  /** Undefined where it is as new as the primary. */
  readonly problem?: StandbyProblem;
}

/** Looks at each server that a URL of standbys names. Throws `ledger-unreachable` if the ledger cannot be asked. */
export async function listPostgresStandbys(url: string, readUrl: string): Promise<readonly StandbyState[]> {
  const database = await openDatabase(url);
  try {
    const [key = ""] = (await database.get(DIGEST_KEY, [], { patient: false })) ?? [];
    const standbys = await openAll(readUrl, { database, digestKey: Buffer.from(key as string, "hex") });
    try {
      const startedAt = performance.now();
      return await Promise.all(
        standbys.all.map(async (standby) => {
          const found = await standby.find(startedAt, { wait: true });
          return { name: standby.name, ...(typeof found === "string" ? { problem: found } : {}) };
        }),
      );
    } finally {
      await standbys.close();
    }
  } finally {
    await database.close();
  }
}
