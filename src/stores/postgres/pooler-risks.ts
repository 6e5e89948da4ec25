import { setTimeout as sleep } from "node:timers/promises";
import { type Database, openDatabase } from "./connection/index.ts";
import { probeListening } from "./listen-probe.ts";
import type { Risk } from "./risks.ts";

const HEARD_WITHIN_MS = 2_000;
const TIMEOUTS = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
const SETTINGS = `select ${TIMEOUTS.map((name) => `current_setting('${name}')`).join(", ")}, current_setting('search_path')`;

/** What a pooler keeps from us: the settings of a connection, and being told of changes. Nothing if there is none. */
export async function listPoolerRisks(
  database: Database,
  listenUrl: string | undefined,
): Promise<readonly Risk[]> {
  return [
    ...(database.keepsSessions ? [] : await settingRisks(database)),
    ...(await wakeUpRisks(database, listenUrl)),
  ];
}

async function settingRisks(database: Database): Promise<readonly Risk[]> {
  const row = (await database.get(SETTINGS, [], { patient: false })) ?? [];
  const missing = TIMEOUTS.filter((_, i) => row[i] === "0");
  if (row[TIMEOUTS.length] !== "pg_catalog") missing.push("search_path");
  if (missing.length === 0) return [];
  return [
    {
      about: "pooler",
      message: `A connection pooler is in between, so connections cannot set ${missing.join(", ")}, and the role does not set them.`,
      advice: "Set them with `alter role`, as docs/operations.md shows.",
    },
  ];
}

async function wakeUpRisks(database: Database, listenUrl: string | undefined): Promise<readonly Risk[]> {
  if (listenUrl === undefined) {
    if (database.keepsSessions || (await isHeard(database, database))) return [];
    return [
      {
        about: "pooler",
        message:
          "A connection pooler in transaction mode is in between: calls that are approved on another replica start up to two seconds later.",
        advice: "Set COUNTERSIGN_LISTEN_URL to a URL of the same database without the pooler.",
      },
    ];
  }
  const listening = await openDatabase(listenUrl);
  try {
    if (await isHeard(listening, database)) return [];
  } catch (error) {
    return [unheard(error instanceof Error ? error.message : String(error))];
  } finally {
    await listening.close();
  }
  return [unheard("Nothing that was notified arrived there.")];
}

function unheard(why: string): Risk {
  return {
    about: "pooler",
    message: `COUNTERSIGN_LISTEN_URL does not work, so calls that are approved on another replica start up to two seconds later. ${why}`,
    advice: "Use a URL of the same database that does not go through a pooler in transaction mode.",
  };
}

async function isHeard(listening: Database, notifying: Database): Promise<boolean> {
  const connection = await listening.loneConnection();
  connection.on("error", () => {});
  try {
    await connection.connect();
    const heard = await probeListening(connection, notifying);
    await sleep(HEARD_WITHIN_MS, undefined, { signal: heard }).catch(() => {});
    return heard.aborted;
  } finally {
    connection.connection.stream.destroy();
  }
}
