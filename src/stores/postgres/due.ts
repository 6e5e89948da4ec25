import type { DueWork, HostedApp } from "../../engine/index.ts";
import { fromJson, NO_DEADLINE } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { fenceOverdueOwners } from "./owners.ts";

const OF_HOSTED = (table: string): string => `(
  select json_agg(id order by id) from (
    select found.id from jsonb_to_recordset($1::jsonb) as hosted (app text, agents jsonb)
    cross join lateral (
      select w.id from countersign.${table} w where w.status = 'ready' and w.app = hosted.app
      and (hosted.agents is null or hosted.agents ? w.agent) order by w.id limit $2
    ) found order by found.id limit $2
  ) first_ones)`;

// Whatever has no owner whose lease runs is lost; an owner that is not even known is no exception.
const LOST = (table: string, status: string): string => `(
  select json_agg(id) from (
    select w.id from countersign.${table} w where w.status = '${status}' and not exists (
      select 1 from countersign.owners o where o.id = w.owner and o.fenced = 0) limit $2
  ) lost)`;

// All of it in one statement, and so at one moment.
const DUE = `
  select now_ms,
    exists (select 1 from countersign.owners where fenced = 0 and (lease_until <= now_ms or last_beat_at > now_ms)),
    (select json_agg(id order by deadline, id) from (
      select id, deadline from countersign.inbox where deadline <= now_ms order by deadline, id limit $2) expired),
    (select deadline from countersign.inbox where deadline > now_ms order by deadline limit 1),
    ${OF_HOSTED("calls")},
    ${OF_HOSTED("frames")},
    ${LOST("calls", "executing")},
    ${LOST("frames", "stepping")}
  from countersign.now_ms() now_ms`;

/** The lists of due work, each of at most `limit`. */
export async function readDue(
  database: Database,
  hosted: readonly HostedApp[],
  limit: number,
): Promise<DueWork> {
  const values = [JSON.stringify(hosted.map(({ app, agents }) => ({ app, agents }))), limit];
  let row = await database.get(DUE, values);
  if ((row?.[1] as unknown) === true) {
    // Only who is fenced has lost its work: one that renewed its lease just now keeps it.
    await fenceOverdueOwners(database);
    row = await database.get(DUE, values);
  }
  const [now, , expired, deadline, readyCalls, readyFrames, lostCalls, lostFrames] = row ?? [];
  return {
    expired: toIds(expired),
    readyCalls: toIds(readyCalls),
    readyFrames: toIds(readyFrames),
    lostCalls: toIds(lostCalls),
    lostFrames: toIds(lostFrames),
    ...(deadline === null || deadline === NO_DEADLINE ? {} : { nextDeadline: deadline as number }),
    now: now as number,
  };
}

function toIds(json: Parameters<typeof fromJson>[0]): readonly string[] {
  return json === null ? [] : (fromJson(json) as readonly string[]);
}
