import { type Archive, eraseArchive } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";

const PAGE = 200;
const ARCHIVES =
  "select n, archived from countersign.log where session = $1 and n > $2 and n <= $3 and archived is not null order by n limit $4";

/**
 * What is left of the archives of a session's log rows, by `n` from 1. The rows of a version never change but by being
 * erased, and the commit that is given this names the version.
 */
export async function eraseArchives(
  database: Database,
  session: string,
  version: number,
): Promise<readonly (string | null)[]> {
  const erased: (string | null)[] = Array.from({ length: version }, () => null);
  for (let after = 0; ; ) {
    const rows = await database.all(ARCHIVES, [session, after, version, PAGE]);
    for (const [n, archived] of rows) {
      erased[(n as number) - 1] = JSON.stringify(eraseArchive(JSON.parse(archived as string) as Archive));
    }
    const [last] = rows.at(-1) ?? [];
    if (rows.length < PAGE || last === undefined) return erased;
    after = last as number;
  }
}
