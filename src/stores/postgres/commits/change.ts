import { type ReadLine, type StoreChange, SUSPENSION } from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { type Database, isGuardRaised } from "../connection/index.ts";
import { areThere } from "../log.ts";
import { newChangeId } from "./change-id.ts";
import {
  ARE_ITEMS_KEPT,
  ENTRY_PARAMETERS,
  entryParameters,
  givenItems,
  isStale,
  itemParameter,
  KEEP_ITEMS,
  keepEntries,
} from "./change-parts.ts";
import { SYNCED } from "./commit-statement.ts";

const CHANGE = `
with ${givenItems(ENTRY_PARAMETERS + 1)},
done as (select 0 as place where not ${isStale("0")} and ${areThere("$4", "$5")}),
${KEEP_ITEMS},
${keepEntries(1)}
select (select ${SYNCED}) from done where (select case when ${ARE_ITEMS_KEPT} then true else countersign.refuse() end)`;
const HAS_CHANGED =
  "select 1 from unnest($1::text[], $2::text[]) i (kind, id) " +
  "join countersign.items k on k.kind = i.kind and k.id = i.id where k.change_id = $3::bigint limit 1";

// Commits that are being written began before, and may not have seen the change; later ones wait, and see it.
const WAIT_FOR_COMMITS = "do $$ begin lock table countersign.documents in share mode; end $$";

/**
 * Changes outside of sessions. False if an item does not have the version that was read, or if a line is missing. Once the ledger is suspended, no
 * commit that is under way can still start something.
 */
export async function applyChange(
  database: Database,
  change: StoreChange,
  upon: readonly ReadLine[],
): Promise<boolean> {
  const isChanged = await write(database, change, upon);
  if (isChanged && change.items.some(isSuspension))
    await database.run(WAIT_FOR_COMMITS, [], { named: false });
  return isChanged;
}

function isSuspension({ kind, id }: StoreChange["items"][number]): boolean {
  return kind === SUSPENSION.kind && id === SUSPENSION.id;
}

async function write(database: Database, change: StoreChange, upon: readonly ReadLine[]): Promise<boolean> {
  const id = newChangeId();
  let lost = false;
  const placed = [{ place: 0, id, change }];
  const read = [upon.map(({ seq }) => seq), upon.map(({ hash }) => hash)];
  const rows = await database
    .all(CHANGE, [...entryParameters(placed), itemParameter(placed), ...read], {
      onLost: () => {
        lost = true;
      },
    })
    .catch((error: unknown) => {
      if (isGuardRaised(error)) return [];
      throw error;
    });
  if (rows.length > 0) return true;
  if (!lost) return false;
  // It was sent again after its answer was lost, and may have been done before.
  const { items } = change;
  const found = await database.get(HAS_CHANGED, [
    items.map(({ kind }) => kind),
    items.map((item) => item.id),
    id,
  ]);
  if (found !== undefined) return true;
  throw new CountersignError(
    "ledger-unreachable",
    `Connection to the ledger "${database.name}" lost; it is unknown whether the change happened. Read it again.`,
    { details: { ledger: database.name } },
  );
}
