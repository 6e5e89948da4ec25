import { rmSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { openSqliteLedger } from "../../src/stores/sqlite/index.ts";
import type { Contender, Paused, Setting } from "../contender.ts";
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
} from "../scenario.ts";
import { READS, REGISTER_OWNER, WRITES } from "./floor-statements.ts";

/** The store's own statements, in its order and with its bytes, and nothing else: no engine, no judging. */
export const floor: Contender = { open: (setting) => openFloor(setting, { reads: true }) };

/** Only what is written, without the looks and guards before it: what no engine can go below. */
export const floorWrites: Contender = { open: (setting) => openFloor(setting, { reads: false }) };

async function openFloor(
  setting: Setting,
  options: { readonly reads: boolean },
): ReturnType<Contender["open"]> {
  const database = await openDatabase(setting);
  const cycle = new FloorCycles(database, setting, options.reads);
  return {
    // Asynchronous only in its type: nothing is awaited.
    pause: async (session) => cycle.pause(session),
    close: async () => database.close(),
  };
}

// The schema comes from the store's own migration, the settings are those of its connections.
async function openDatabase({ store, file }: Setting): Promise<DatabaseSync> {
  await (await openSqliteLedger({ path: file })).close();
  const database = new DatabaseSync(store === "memory" ? ":memory:" : file, { timeout: 0 });
  database.exec("pragma foreign_keys = off; pragma cache_size = -65536; pragma temp_store = memory");
  if (store === "memory") {
    copySchema(file, database);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  } else {
    database.exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 8000");
    database.exec(`pragma synchronous = ${store === "sqlite-full" ? "full" : "normal"}`);
  }
  return database;
}

function copySchema(file: string, target: DatabaseSync): void {
  const source = new DatabaseSync(file);
  const tables = source.prepare("select sql from sqlite_schema where sql is not null order by rowid").all();
  source.close();
  for (const { sql } of tables) target.exec(sql as string);
}

type Reads = { readonly [name in keyof typeof READS]: StatementSync };
type Writes = { readonly [name in keyof typeof WRITES]: StatementSync };

// As long as what the engine computes there; nobody checks them here.
const DIGEST = "d".repeat(43);
const HASH = "h".repeat(43);

class FloorCycles {
  readonly #database: DatabaseSync;
  readonly #reads: Reads | undefined;
  readonly #writes: Writes;
  readonly #runBody: Setting["runBody"];
  readonly #switchesSync: boolean;
  readonly #owner: string;
  #count = 0;

  constructor(database: DatabaseSync, { store, runBody }: Setting, reads: boolean) {
    this.#database = database;
    this.#reads = reads ? prepareAll(database, READS) : undefined;
    this.#writes = prepareAll(database, WRITES);
    this.#runBody = runBody;
    this.#switchesSync = store === "sqlite";
    this.#owner = this.#newId(Date.now());
    const now = Date.now();
    database.prepare(REGISTER_OWNER).run(this.#owner, "bench", process.pid, Number.MAX_SAFE_INTEGER, now);
  }

  pause(session: string): Paused {
    this.#count += 1;
    const cycle = this.#message(session, `e-${String(this.#count).padStart(34, "0")}`);
    const asked = this.#turn(cycle, `call-${String(this.#count).padStart(20, "0")}`);
    return {
      approve: async () => {
        this.#decide(cycle, asked);
        const result = this.#runBody({ amount: AMOUNT });
        this.#result(cycle, asked, result);
        this.#final(cycle);
      },
    };
  }

  #message(session: string, invocation: string): Cycle {
    const writes = this.#writes;
    this.#reads?.sessionByName.get(APP, USER, session);
    const now = Date.now();
    const key = this.#newId(now);
    const cycle = { key, frame: `${key}.${this.#newId(now)}`, invocation };
    writes.begin.run();
    writes.insertSession.run(
      cycle.key,
      APP,
      USER,
      session,
      1,
      2,
      0,
      0,
      0,
      "",
      now,
      now,
      null,
      this.#owner,
      now,
    );
    this.#reads?.stepping.get(cycle.key, null);
    writes.insertFrame.run(
      cycle.frame,
      cycle.key,
      APP,
      invocation,
      null,
      null,
      "llm",
      AGENT,
      JSON.stringify([AGENT]),
      null,
      "null",
      "stepping",
      0,
      "[]",
      0,
      this.#owner,
      null,
      0,
    );
    this.#event(cycle, 1, userEvent(invocation), now);
    writes.commit.run();
    return cycle;
  }

  #turn(cycle: Cycle, wireId: string): Asked {
    const { key, frame, invocation } = cycle;
    const writes = this.#writes;
    const now = Date.now();
    const asked = { wireId, call: `${key}.${wireId}`, confirmation: `adk-${this.#newId(now)}` };
    writes.begin.run();
    writes.moveSession.run(4, 1, 0, 1, HASH, now, key, 1);
    this.#event(cycle, 2, modelEvent(invocation, wireId), now);
    this.#question(cycle, asked, now);
    this.#journal(cycle, { n: 1, kind: "confirmation-requested", body: requestBody(asked, now) }, now);
    this.#event(cycle, 3, askEvent(invocation, asked), now);
    writes.pauseFrame.run("waiting", 1, JSON.stringify([asked.call]), 1, null, frame, "stepping");
    writes.commit.run();
    return asked;
  }

  #question({ key, frame, invocation }: Cycle, asked: Asked, now: number): void {
    const writes = this.#writes;
    const args = JSON.stringify({ amount: AMOUNT });
    writes.insertCall.run(
      asked.call,
      key,
      APP,
      frame,
      1,
      0,
      asked.wireId,
      AGENT,
      TOOL,
      args,
      DIGEST,
      DEFINITION_DIGEST,
      "[]",
      0,
      0,
      "waiting",
      0,
      null,
      null,
      null,
      asked.confirmation,
      1,
      0,
      null,
      null,
      null,
      null,
    );
    const shown = JSON.stringify({ hint: HINT, why: [WHY] });
    writes.insertConfirmation.run(
      asked.confirmation,
      asked.call,
      0,
      key,
      APP,
      AGENT,
      JSON.stringify([AGENT]),
      USER,
      TOOL,
      JSON.stringify([USER]),
      JSON.stringify("requester"),
      invocation,
      DIGEST,
      shown,
      1,
      "requested",
      now,
      now + DEADLINE_MS,
      "[]",
      null,
    );
  }

  #decide(cycle: Cycle, asked: Asked): void {
    const writes = this.#writes;
    this.#reads?.byConfirmation.get(asked.confirmation);
    const now = Date.now();
    if (this.#switchesSync) this.#database.exec("pragma synchronous = full");
    writes.begin.run();
    writes.moveSessionOwned.run(5, 0, 0, 2, HASH, now, cycle.key, 2, this.#owner, now);
    writes.approve.run("approved", votesText(now), asked.confirmation, "requested", now);
    this.#event(cycle, 4, closingEvent(cycle.invocation, asked), now);
    writes.claimCall.run("executing", 1, now, this.#owner, asked.call, "waiting", 0);
    const body = approvalBody(asked, this.#owner);
    this.#journal(cycle, { n: 2, kind: "confirmation-approved", body }, now);
    writes.commit.run();
  }

  #result(cycle: Cycle, asked: Asked, result: ReturnType<Setting["runBody"]>): void {
    const writes = this.#writes;
    const now = Date.now();
    if (this.#switchesSync) this.#database.exec("pragma synchronous = normal");
    writes.begin.run();
    writes.moveSessionOwned.run(6, 0, 0, 3, HASH, now, cycle.key, 3, this.#owner, now);
    writes.answerCall.run("succeeded", now, JSON.stringify(result), null, asked.call, "executing", 1);
    this.#event(cycle, 5, responseEvent(cycle.invocation, asked, result), now);
    this.#reads?.otherStepping.get(cycle.frame);
    writes.stepFrame.run("stepping", 0, this.#owner, cycle.frame, "waiting");
    const body = { call: asked.call, tool: TOOL, attempt: 1, resultDigest: DIGEST };
    this.#journal(cycle, { n: 3, kind: "call-succeeded", body }, now);
    writes.commit.run();
  }

  #final(cycle: Cycle): void {
    const writes = this.#writes;
    const now = Date.now();
    writes.begin.run();
    writes.moveSession.run(7, 0, 0, 3, HASH, now, cycle.key, 4);
    this.#event(cycle, 6, finalEvent(cycle.invocation), now);
    writes.endFrame.run("done", null, 1, cycle.frame, "stepping");
    writes.commit.run();
  }

  #event(cycle: Cycle, seq: number, draft: object, now: number): void {
    const body = JSON.stringify({ ...draft, id: this.#newId(now), timestamp: now });
    this.#writes.insertEvent.run(cycle.key, seq, body);
  }

  #journal(
    cycle: Cycle,
    record: { readonly n: number; readonly kind: string; readonly body: object },
    now: number,
  ): void {
    const text = JSON.stringify(record.body);
    this.#writes.insertJournal.run(null, cycle.key, record.n, now, record.kind, DIGEST, HASH, text);
  }

  #newId(now: number): string {
    // Ordered by time and scattered within it, as the engine's are.
    return now.toString(32).padStart(10, "0") + Math.random().toString(32).slice(2, 18).padEnd(16, "0");
  }
}

interface Cycle {
  readonly key: string;
  readonly frame: string;
  readonly invocation: string;
}

interface Asked {
  readonly wireId: string;
  readonly call: string;
  readonly confirmation: string;
}

function prepareAll<Texts extends { readonly [name: string]: string }>(
  database: DatabaseSync,
  texts: Texts,
): { readonly [name in keyof Texts]: StatementSync } {
  const entries = Object.entries(texts).map(([name, sql]) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return [name, statement] as const;
  });
  return Object.fromEntries(entries) as { readonly [name in keyof Texts]: StatementSync };
}

function requestBody({ confirmation, call }: Asked, now: number): object {
  return {
    confirmation,
    call,
    tool: TOOL,
    round: 0,
    argsDigest: DIGEST,
    app: APP,
    agent: AGENT,
    path: [AGENT],
    user: USER,
    requesters: [USER],
    args: { amount: AMOUNT },
    hint: HINT,
    why: [WHY],
    approvers: "requester",
    definitionDigest: DEFINITION_DIGEST,
    expiresAt: now + DEADLINE_MS,
  };
}

function approvalBody({ confirmation, call }: Asked, owner: string): object {
  return {
    confirmation,
    call,
    tool: TOOL,
    round: 0,
    argsDigest: DIGEST,
    confirmed: true,
    by: { id: USER, kind: "local", authenticated: false },
    via: "host",
    started: { attempt: 1, owner },
  };
}

function votesText(now: number): SQLInputValue {
  const by = { kind: "local", roles: [], scopes: [], authenticated: false, id: USER };
  return JSON.stringify([{ confirmed: true, at: now, by, via: "host" }]);
}

function askEvent(invocationId: string, { confirmation, wireId }: Asked): object {
  const call = { id: wireId, name: TOOL, args: { amount: AMOUNT } };
  return { author: AGENT, invocationId, asks: [{ id: confirmation, call, hint: HINT }] };
}

function closingEvent(invocationId: string, { confirmation, wireId }: Asked): object {
  return { author: "user", invocationId, closings: [{ id: confirmation, callId: wireId, confirmed: true }] };
}

function responseEvent(invocationId: string, { wireId }: Asked, response: object): object {
  const functionResponse = { id: wireId, name: TOOL, response };
  return { author: AGENT, invocationId, content: { role: "user", parts: [{ functionResponse }] } };
}
