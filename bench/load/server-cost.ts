import { readdirSync, readFileSync } from "node:fs";
import { execute } from "../../test/support/postgres/server.ts";

/** What a PostgreSQL server has used since it was started. */
export interface ServerCost {
  /** Processor time of all its processes, in seconds; undefined where the system does not tell. */
  readonly seconds: number | undefined;
  readonly walBytes: number;
  readonly transactions: number;
}

const COUNTERS =
  "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal, pg_current_xact_id()::text as transactions, " +
  "current_setting('data_directory') as folder";
/** What Linux counts processor time in, on every machine that it runs on today. */
const TICKS_A_SECOND = 100;

/** Reads it from the server, and from the system. */
export async function serverCost(url: string): Promise<ServerCost> {
  const [result] = await execute(url, COUNTERS);
  const [row] = (result?.rows ?? []) as Record<"wal" | "transactions" | "folder", string>[];
  const { wal, transactions, folder = "" } = row ?? {};
  return { seconds: secondsOf(folder), walBytes: Number(wal), transactions: Number(transactions) };
}

/** What was used between two readings. */
export function costBetween(before: ServerCost, after: ServerCost): ServerCost {
  const known = before.seconds !== undefined && after.seconds !== undefined;
  return {
    seconds: known ? (after.seconds ?? 0) - (before.seconds ?? 0) : undefined,
    walBytes: after.walBytes - before.walBytes,
    transactions: after.transactions - before.transactions,
  };
}

function secondsOf(folder: string): number | undefined {
  try {
    const [postmaster = ""] = readFileSync(`${folder}/postmaster.pid`, "utf8").split("\n");
    const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const ofChildren = running.flatMap((pid) => {
      const fields = statOf(pid);
      return fields !== undefined && fields.parent === postmaster ? [fields.own] : [];
    });
    // Of children that have ended, the first process has the sum.
    const { own = 0, ended = 0 } = statOf(postmaster) ?? {};
    return [own, ended, ...ofChildren].reduce((sum, ticks) => sum + ticks, 0) / TICKS_A_SECOND;
  } catch {
    return undefined;
  }
}

interface Stat {
  readonly parent: string;
  readonly own: number;
  readonly ended: number;
}

/** Undefined for a process that has ended meanwhile. */
function statOf(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program may have spaces and brackets; the fields begin after it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = (...places: readonly number[]): number =>
      places.reduce((sum, place) => sum + Number(fields[place]), 0);
    return { parent: fields[1] ?? "", own: ticks(11, 12), ended: ticks(13, 14) };
  } catch {
    return undefined;
  }
}
