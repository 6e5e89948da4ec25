import { type Archive, eraseArchive } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";

const PAGE = 200;
const BYTES = 4_000_000;
/** Rows of at most this many bytes together, but at least one. */
const ARCHIVES =
  "select n, archived from (select p.n, p.archived, row_number() over (order by p.n) as nth, " +
  "sum(octet_length(p.archived)) over (order by p.n) as total from (select n, archived from countersign.log " +
  `where session = $1 and n > $2 and n <= $3 and archived is not null order by n limit ${PAGE}) p) q ` +
  `where nth = 1 or total <= ${BYTES} order by n`;

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
    const rows = await database.all(ARCHIVES, [session, after, version]);
    for (const [n, archived] of rows) {
      erased[(n as number) - 1] = JSON.stringify(eraseArchive(JSON.parse(archived as string) as Archive));
    }
    const [last] = rows.at(-1) ?? [];
    if (last === undefined) return erased;
    after = last as number;
  }
}
