import { openDatabase } from "./connection/index.ts";
import { listPoolerRisks } from "./pooler-risks.ts";

/** What may lose acknowledged commits (settings, standbys), or make them late (a pooler). */
export interface Risk {
  /** In a word. */
  readonly about: "durability" | "standby" | "promotion" | "pooler";
  readonly message: string;
  readonly advice: string;
}

// A role without the right to see more still sees that there is a standby.
const ASK = `
  select current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    (select coalesce(json_agg(coalesce(sync_state, '')), '[]') from pg_stat_replication
      where coalesce(state, 'streaming') in ('streaming', 'catchup'))::text,
    case when pg_is_in_recovery() then 0
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer end`;

type Facts = readonly [
  fsync: string,
  fullPageWrites: string,
  commit: string,
  standbys: string,
  timeline: number,
];

/** Inspects the server's settings and standbys, and a pooler in front. Throws `ledger-unreachable` if it cannot. */
export async function listPostgresRisks(url: string, listenUrl?: string): Promise<readonly Risk[]> {
  const database = await openDatabase(url);
  try {
    const row = await database.get(ASK, [], { named: false, patient: false });
    const [fsync, fullPageWrites, commit, standbys, timeline] = row as unknown as Facts;
    const states = JSON.parse(standbys) as readonly string[];
    return [
      ...settingRisks({ fsync, fullPageWrites }),
      ...commitRisks(commit, states.length),
      ...standbyRisks(states),
      ...promotionRisks(timeline),
      ...(await listPoolerRisks(database, listenUrl)),
    ];
  } finally {
    await database.close();
  }
}

function settingRisks({
  fsync,
  fullPageWrites,
}: {
  readonly fsync: string;
  readonly fullPageWrites: string;
}): readonly Risk[] {
  const off = [
    ...(fsync === "off" ? ["fsync"] : []),
    ...(fullPageWrites === "off" ? ["full_page_writes"] : []),
  ];
  return off.map((name) => ({
    about: "durability",
    message: `The server has ${name} off: a crash of the machine may lose acknowledged decisions and claims, or damage the database.`,
    advice: `Turn ${name} on in the server's settings.`,
  }));
}

function commitRisks(commit: string, standbys: number): readonly Risk[] {
  const advice = "Set synchronous_commit to on, for the server and for the role that serves.";
  if (commit === "off") {
    return [
      {
        about: "durability",
        message:
          "synchronous_commit is off: decisions and claims are still synced, but other writes of this role are not.",
        advice,
      },
    ];
  }
  if (commit !== "local" || standbys === 0) return [];
  return [
    {
      about: "durability",
      message:
        "synchronous_commit is local: decisions and claims do not wait for a standby, not even a synchronous one.",
      advice,
    },
  ];
}

function standbyRisks(states: readonly string[]): readonly Risk[] {
  if (states.length === 0 || states.some((state) => state === "sync" || state === "quorum")) return [];
  if (states.includes("")) {
    return [
      {
        about: "standby",
        message: "The server has a standby, but this role cannot see whether it is synchronous.",
        advice: "Grant pg_monitor to the role, or use a role that has it.",
      },
    ];
  }
  return [
    {
      about: "standby",
      message:
        "No standby of the server is synchronous: a failover may lose decisions and claims that were acknowledged.",
      advice: "Set synchronous_standby_names, or expect calls to be shown as unknown after a failover.",
    },
  ];
}

function promotionRisks(timeline: number): readonly Risk[] {
  if (timeline <= 1) return [];
  return [
    {
      about: "promotion",
      message: `The server was promoted or restored before (timeline ${timeline}): the last commits of its predecessor may be missing.`,
      advice:
        "Check for unknown calls, and run `countersign audit verify --head` with a head that you stored elsewhere.",
    },
  ];
}
