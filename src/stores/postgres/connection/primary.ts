import { setTimeout } from "node:timers/promises";
import type { ConnectionSettings, Driver, LoneConnection } from "./driver.ts";
import { isGone, READ_ONLY } from "./postgres-errors.ts";

/** What a new connection to a server found. */
export interface Look {
  readonly host: ConnectionSettings;
  /** Those of our connections that the server knows; true: it has waited for us for a while. */
  readonly known: ReadonlyMap<number, boolean>;
  /** False where a pooler makes up the numbers of processes, so that nothing can be said of them. */
  readonly canTell: boolean;
}

interface Answer extends Look {
  readonly isStandby: boolean;
  /** Grows with each promotion; as digits of equal length. */
  readonly timeline: string;
}

const LOOK = `
  select pg_is_in_recovery(),
    case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end,
    pg_backend_pid(),
    (select coalesce(json_object_agg(pid, state = 'idle' and state_change < clock_timestamp() - interval '100 ms'), '{}')
      from pg_stat_activity where pid = any ($1))::text`;

/** After one host has said that it is the primary, how long others may still say so. */
const GRACE_MS = 150;

/**
 * The server that takes writes, by a new connection to each host that has `limitMs` for everything. Of two that say so
 * the one that was promoted last, then the first. Rejects with a driver's error where there is none. `any`: a standby will do.
 */
export async function findPrimary(
  driver: Driver,
  hosts: readonly ConnectionSettings[],
  options: { readonly pids: readonly number[]; readonly limitMs: number; readonly any: boolean },
): Promise<Look> {
  const answers: Answer[] = [];
  const errors: unknown[] = [];
  const first = Promise.withResolvers<void>();
  const all = Promise.all(
    hosts.map(async (host) => {
      try {
        const answer = await lookAt(driver, host, options);
        answers.push(answer);
        if (options.any || !answer.isStandby) first.resolve();
      } catch (error) {
        errors.push(error);
      }
    }),
  );
  await Promise.race([all, first.promise.then(() => Promise.race([all, setTimeout(GRACE_MS)]))]);
  const [best] = answers
    .filter(({ isStandby }) => options.any || !isStandby)
    .toSorted(
      (one, other) =>
        other.timeline.localeCompare(one.timeline) || hosts.indexOf(one.host) - hosts.indexOf(other.host),
    );
  if (best !== undefined) return best;
  if (answers.length > 0) {
    throw Object.assign(new Error("Every server that answers is a standby."), { code: READ_ONLY });
  }
  // What does not pass by itself is told first.
  throw errors.find((error) => !isGone(error)) ?? errors[0];
}

async function lookAt(
  driver: Driver,
  host: ConnectionSettings,
  { pids, limitMs }: { readonly pids: readonly number[]; readonly limitMs: number },
): Promise<Answer> {
  const connection = new driver.Client({
    ...host,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
  });
  connection.on("error", () => {});
  const timer = new AbortController();
  const late = setTimeout(limitMs, "late" as const, { signal: timer.signal });
  late.catch(() => {});
  try {
    const looking = ask(connection, pids);
    looking.catch(() => {});
    const row = await Promise.race([looking, late]);
    if (row === "late") throw new Error("Connection terminated: no answer in time");
    const [isStandby, timeline, pid, known] = row as readonly [boolean, string, number, string];
    connection.end().catch(() => {});
    const entries = Object.entries(JSON.parse(known) as Record<string, boolean | null>);
    return {
      host,
      isStandby,
      timeline,
      canTell: pid === connection.processID,
      known: new Map(entries.map(([key, isIdle]) => [Number(key), isIdle === true])),
    };
  } catch (error) {
    // Not `end`, which waits for a server that may not answer.
    connection.connection.stream.destroy();
    throw error;
  } finally {
    timer.abort();
  }
}

async function ask(connection: LoneConnection, pids: readonly number[]): Promise<readonly unknown[]> {
  await connection.connect();
  const { rows } = await connection.query({ text: LOOK, values: [pids], rowMode: "array" });
  return rows[0] ?? [];
}
