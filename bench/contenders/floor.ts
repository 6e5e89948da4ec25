import { DatabaseSync } from "node:sqlite";
import { DocumentLedger, Engine, systemClock } from "../../src/engine/index.ts";
import { Database } from "../../src/stores/sqlite/connection/database.ts";
import type { Driver, SqlValue, Statement } from "../../src/stores/sqlite/connection/driver.ts";
import { migrate } from "../../src/stores/sqlite/schema/migrate.ts";
import { MIGRATIONS } from "../../src/stores/sqlite/schema/schema.ts";
import { SqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import type { Contender, Setting } from "../contender.ts";
import { AMOUNT } from "../scenario.ts";
import { ScriptedAgent } from "./engine.ts";

/** The store's own statements, in its order and with its bytes, and nothing else: no engine, no judging. */
export const floor: Contender = { open: (setting) => openFloor(setting, { reads: true }) };

/** Only what is written, without the looks and guards before it: what no engine can go below. */
export const floorWrites: Contender = { open: (setting) => openFloor(setting, { reads: false }) };

/** A statement of the cycle that was recorded; an `exec` has no values. */
interface Step {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
}

interface Recording {
  readonly key: string;
  readonly session: string;
  readonly owners: readonly (readonly SqlValue[])[];
  readonly pause: readonly Step[];
  readonly approve: readonly Step[];
}

const SESSION = "session-000000000000";
const NEVER = Number.MAX_SAFE_INTEGER;

async function openFloor(
  setting: Setting,
  { reads }: { readonly reads: boolean },
): ReturnType<Contender["open"]> {
  const recording = await record();
  const database = await openDatabase(setting, recording);
  const isPlayed = ({ sql }: Step): boolean =>
    (reads || !sql.startsWith("select")) && !(sql.startsWith("pragma") && setting.store !== "sqlite");
  const prepare = (steps: readonly Step[]): readonly Played[] =>
    steps.filter(isPlayed).map((step) => prepareStep(database, step, recording));
  const [pause, approve] = [prepare(recording.pause), prepare(recording.approve)];
  let count = 0;
  return {
    // Asynchronous only in its type: nothing is awaited.
    pause: async (session) => {
      count += 1;
      const key = String(count).padStart(recording.key.length, "0");
      for (const play of pause) play(key, session);
      return {
        approve: async () => {
          for (const play of approve) play(key, session);
          setting.runBody({ amount: AMOUNT });
        },
      };
    },
    close: async () => database.close(),
  };
}

/** One cycle of the engine, as its store says it to SQLite. */
async function record(): Promise<Recording> {
  let steps: Step[] = [];
  const inner = new DatabaseSync(":memory:");
  const database = new Database(
    recordingDriver(inner, (step) => steps.push(step)),
    { path: "recorded" },
  );
  await migrate(database, MIGRATIONS);
  const ledger = new DocumentLedger(new SqliteStore(database, new Uint8Array(32), systemClock));
  const agent = new ScriptedAgent(new Engine({ ledger, hostName: "bench" }), ({ amount }) => ({
    ok: true,
    amount,
  }));
  await (await agent.pause("warm")).approve();
  steps = [];
  const paused = await agent.pause(SESSION);
  const pause = steps;
  steps = [];
  await paused.approve();
  // A copy: what is looked at and closed below is not part of it.
  const approve = [...steps];
  const [document] = database.all("select key from documents where id = ?", [SESSION]);
  const owners = database.all("select * from owners");
  await agent.engine.close();
  return { key: String(document?.[0]), session: SESSION, owners, pause, approve };
}

function recordingDriver(inner: DatabaseSync, onStep: (step: Step) => void): Driver {
  return {
    get isTransaction() {
      return inner.isTransaction;
    },
    exec: (sql) => {
      onStep({ sql });
      inner.exec(sql);
    },
    prepare: (sql) => {
      const statement = inner.prepare(sql);
      const recorded =
        <T>(run: (values: SqlValue[]) => T) =>
        (...values: SqlValue[]): T => {
          onStep({ sql, values });
          return run(values);
        };
      return {
        run: recorded((values) => statement.run(...values)),
        get: recorded((values) => statement.get(...values)),
        all: recorded((values) => statement.all(...values)),
        iterate: recorded((values) => statement.iterate(...values)),
        setReturnArrays: (enabled) => statement.setReturnArrays(enabled),
      } satisfies Statement;
    },
    close: () => inner.close(),
  };
}

// The settings are those of the store's connections.
async function openDatabase({ store, file }: Setting, { owners }: Recording): Promise<DatabaseSync> {
  const driver = new DatabaseSync(store === "memory" ? ":memory:" : file, { timeout: 0 });
  driver.exec("pragma cache_size = -65536; pragma temp_store = memory; pragma secure_delete = on");
  if (store !== "memory") {
    driver.exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 8000");
    driver.exec(`pragma synchronous = ${store === "sqlite-full" ? "full" : "normal"}`);
  }
  await migrate(new Database(driver, { path: file }), MIGRATIONS);
  for (const [id = null, host = null, pid = null] of owners)
    driver.prepare("insert into owners values (?, ?, ?, ?, ?, 0)").run(id, host, pid, NEVER, 0);
  return driver;
}

type Played = (key: string, session: string) => void;

/** Says the statement again, of another session. */
function prepareStep(database: DatabaseSync, { sql, values }: Step, recording: Recording): Played {
  if (values === undefined) return () => database.exec(sql);
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const isRead = sql.startsWith("select");
  const makers = values.map((value) => makerOf(value, recording));
  return (key, session) => {
    const own = makers.map((make) => (typeof make === "function" ? make(key, session) : make));
    if (isRead) statement.get(...own);
    else statement.run(...own);
  };
}

function makerOf(
  value: SqlValue,
  { key, session }: Recording,
): SqlValue | ((key: string, session: string) => string) {
  if (typeof value !== "string" || !(value.includes(key) || value.includes(session))) return value;
  const parts = value.split(key).map((part) => part.split(session));
  return (newKey, newSession) => parts.map((part) => part.join(newSession)).join(newKey);
}
