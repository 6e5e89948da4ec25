import type { CommitOutcome } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";
import { NOW } from "../now.ts";
import { IS_SUSPENDED } from "./change-parts.ts";
import type { Sent } from "./commit-statement.ts";

const OWNER = "select 1 from countersign.owners o where o.id = $7";
const WHY = `
select exists (select 1 from countersign.log where session = $1 and n = $2::bigint + 1 and commit_id = $8::bigint),
  case when $2::bigint = 0
    then not exists (select 1 from countersign.documents where key = $1)
      and not exists (select 1 from countersign.documents where app = $4 and "user" = $5 and id = $6)
    else exists (select 1 from countersign.documents where key = $1 and version = $2::bigint and head = coalesce($3, head)
      and updated_at = coalesce($14::bigint, updated_at)) end,
  $7::text is null or not ${IS_SUSPENDED},
  $7::text is null or exists (${OWNER} and o.fenced = 0 and o.lease_until > ${NOW}),
  $7::text is null or exists (${OWNER} and countersign.may_claim(o.history, ${NOW})),
  ($9::bigint is null or ${NOW} < $9::bigint) and ($10::bigint is null or ${NOW} >= $10::bigint),
  not exists (
    select 1 from unnest($11::text[], $12::text[], $13::bigint[]) i (kind, id, read)
    left join countersign.items k on k.kind = i.kind and k.id = i.id and (k.expires_at is null or k.expires_at > ${NOW})
    where i.read <> coalesce(k.version, 0))`;

type Refused = Extract<CommitOutcome, { ok: false }>;
const CONFLICTS = [
  "version",
  "suspended",
  "owner",
  "history",
  "deadline",
  "row",
] as const satisfies Refused["conflict"][];

/**
 * Why a commit was not done, or that it was, and only its answer lost. Undefined where nothing speaks against it any more.
 */
export async function judge(database: Database, { id, commit }: Sent): Promise<CommitOutcome | undefined> {
  const { key, version, head, changedAt, create, owner, before, from } = commit;
  const checked = (commit.checks ?? []).map((item) => ({ ...item, read: item.version }));
  const read = [...commit.items.filter((item) => item.read !== undefined), ...checked];
  const items = [
    read.map(({ kind }) => kind),
    read.map((item) => item.id),
    read.map((item) => item.read ?? 0),
  ];
  const asked = [key, version, head, create?.app, create?.user, create?.id, owner, id, before, from];
  const row = await database.get(WHY, [...asked.map((value) => value ?? null), ...items, changedAt ?? null]);
  const [isDone, ...holds] = row ?? [];
  if (isDone === true) return { ok: true };
  const conflict = CONFLICTS.find((_, at) => holds[at] !== true);
  return conflict && { ok: false, conflict };
}
