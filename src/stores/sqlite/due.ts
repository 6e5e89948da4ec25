import type { DueWork, HostedApp } from "../../engine/index.ts";
import { NO_DEADLINE } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const EXPIRED =
  "select confirmation from inbox where facet = '' and value = '' and deadline <= ? order by deadline, confirmation limit ?";
const NEXT_DEADLINE =
  "select deadline from inbox where facet = '' and value = '' and deadline > ? order by deadline limit 1";
const OF_AGENTS = "(?2 is null or agent in (select value from json_each(?2)))";
const READY_CALLS = `select id from calls where status = 'ready' and app = ?1 and ${OF_AGENTS} order by id limit ?3`;
const READY_FRAMES = `
  select id from frames indexed by frames_ready
  where status = 'ready' and app = ?1 and ${OF_AGENTS} order by id limit ?3`;

// Whatever has no owner whose lease runs is lost; an owner that is not even known is no exception.
const LOST_CALLS = `
  select id from calls where status = 'executing'
  and not exists (select 1 from owners where id = calls.owner and fenced = 0) limit ?`;
const LOST_FRAMES = `
  select id from frames indexed by frames_held where owner is not null and status = 'stepping'
  and not exists (select 1 from owners where id = frames.owner and fenced = 0) limit ?`;

/** The lists of due work, each of at most `limit`. Overdue owners must have been fenced before. */
export function readDue(
  database: Database,
  hosted: readonly HostedApp[],
  { limit, now }: { readonly limit: number; readonly now: number },
): DueWork {
  const ofHosted = (sql: string): readonly string[] =>
    hosted
      .flatMap(({ app, agents }) =>
        ids(database.all(sql, [app, agents === undefined ? null : JSON.stringify(agents), limit])),
      )
      // Ids begin with their time: the oldest first, whichever app it belongs to.
      .sort()
      .slice(0, limit);
  const deadline = database.get(NEXT_DEADLINE, [now])?.[0];
  return {
    expired: ids(database.all(EXPIRED, [now, limit])),
    readyCalls: ofHosted(READY_CALLS),
    readyFrames: ofHosted(READY_FRAMES),
    lostCalls: ids(database.all(LOST_CALLS, [limit])),
    lostFrames: ids(database.all(LOST_FRAMES, [limit])),
    ...(deadline === undefined || deadline === NO_DEADLINE ? {} : { nextDeadline: deadline as number }),
    now,
  };
}

function ids(rows: ReturnType<Database["all"]>): string[] {
  return rows.map(([id]) => id as string);
}
