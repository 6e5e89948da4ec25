import { DatabaseSync } from "node:sqlite";
import { valueDigest } from "../src/engine/index.ts";
import { openSqliteLedger } from "../src/stores/sqlite/index.ts";
import {
  AGENT,
  AMOUNT,
  APP,
  DEADLINE_MS,
  DEFINITION_DIGEST,
  finalEvent,
  HINT,
  modelEvent,
  TOOL,
  USER,
  userEvent,
  WHY,
} from "./scenario.ts";

const INVOCATION = `e-${"0".repeat(34)}`;
const WIRE_ID = "call-1";
const HASH = "h".repeat(43);
const OTHER_TOOL = "transfer_funds";

/** The ids of the n-th loaded confirmation and of its frame: older than whatever the engine makes. */
export function loadedPending(n: number): { readonly confirmation: string; readonly frame: string } {
  const digits = String(n).padStart(24, "0");
  return { confirmation: `adk-00${digits}`, frame: `0k${digits}.f` };
}

/**
 * A ledger in which so many people are asked something: a session, frame, call, confirmation, its six inbox
 * rows, three events and a journal record for each, every second one for {@link TOOL}.
 */
export async function loadPending(file: string, count: number): Promise<void> {
  const digest = await createLedgerFile(file);
  const now = Date.now();
  fill(file, (database) => {
    const numbers = `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})`;
    const key = "printf('0k%024d', n)";
    const run = (sql: string, values: readonly (string | number)[]): void => {
      database.prepare(`${sql.replace("SELECT", `${numbers} select`)} from numbers`).run(...values);
    };
    run(
      `insert into sessions SELECT ${key}, ?, 'user-' || (n % 5000), 'session-' || n, 3, 4, 1, 0, 1, ?, ?, ?, null`,
      [APP, HASH, now, now],
    );
    run(
      `insert into frames SELECT ${key} || '.f', ${key}, ?, ?, null, null, 'llm', ?, ?, null, 'null', ` +
        `'waiting', 1, '["' || ${key} || '.${WIRE_ID}"]', 1, null, null, 0`,
      [APP, INVOCATION, AGENT, JSON.stringify([AGENT])],
    );
    const tool = `iif(n % 2 = 0, '${TOOL}', '${OTHER_TOOL}')`;
    run(
      `insert into calls SELECT ${key} || '.${WIRE_ID}', ${key}, ?, ${key} || '.f', 1, 0, '${WIRE_ID}', ?, ` +
        `${tool}, ?, ?, ?, '[]', 0, 0, 'waiting', 0, null, null, null, printf('adk-00%024d', n), 1, 0, null, null, null, null`,
      [APP, AGENT, JSON.stringify({ amount: AMOUNT }), digest, DEFINITION_DIGEST],
    );
    run(
      `insert into confirmations SELECT printf('adk-00%024d', n), ${key} || '.${WIRE_ID}', 0, ${key}, ?, ?, ?, ` +
        `'user-' || (n % 5000), ${tool}, '["user-' || (n % 5000) || '"]', '"requester"', ?, ?, ?, 1, 'requested', ` +
        `?, ? + (n * 7919) % ${count}, '[]', null`,
      [
        APP,
        AGENT,
        JSON.stringify([AGENT]),
        INVOCATION,
        digest,
        JSON.stringify({ hint: HINT, why: [WHY] }),
        now,
        now + DEADLINE_MS,
      ],
    );
    const bodies = [userEvent(INVOCATION), modelEvent(INVOCATION, WIRE_ID), finalEvent(INVOCATION)];
    for (const [place, event] of bodies.entries()) {
      run(`insert into events SELECT ${key}, ${place + 1}, ?`, [JSON.stringify(event)]);
    }
    run(
      `insert into journal SELECT null, ${key}, 1, ?, 'confirmation-requested', ?, ?, '{"confirmation":"' || n || '"}'`,
      [now, digest, HASH],
    );
  });
}

/** How the n-th session with a loaded history is called. */
export function loadedSession(n: number): string {
  return `history-${n}`;
}

/** A ledger with sessions of so many events each. */
export async function loadHistory(file: string, events: number, sessions: number): Promise<void> {
  await createLedgerFile(file);
  const now = Date.now();
  const body = JSON.stringify({ ...userEvent(INVOCATION), id: "0".repeat(26), timestamp: now });
  fill(file, (database) => {
    const session = database.prepare(
      "insert into sessions values (?, ?, ?, ?, 1, ?, 0, 0, 0, '', ?, ?, null)",
    );
    const history = database.prepare(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${events})
       insert into events select ?, n, ? from numbers`,
    );
    for (let n = 0; n < sessions; n += 1) {
      const key = `0k${String(n).padStart(24, "0")}`;
      session.run(key, APP, USER, loadedSession(n), events + 1, now, now);
      history.run(key, body);
    }
  });
}

/** Makes the ledger, and digests the arguments of all its calls with its key. */
async function createLedgerFile(file: string): Promise<string> {
  const ledger = await openSqliteLedger({ path: file });
  await ledger.close();
  return valueDigest(ledger.digestKey, { amount: AMOUNT });
}

// Nothing here has to survive a crash, so nothing is synced and no log is kept.
function fill(file: string, load: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; begin");
  load(database);
  database.exec("commit");
  database.close();
}
