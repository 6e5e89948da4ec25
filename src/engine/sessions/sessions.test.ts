import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { SessionName } from "../ledger/commit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { readDocumentText } from "../store/document.ts";
import {
  ask,
  hostOf,
  killableEngine,
  message,
  modelSays,
  planned,
  pumped,
  toolOf,
  until,
  type WatchedLedger,
} from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";

const SWORDFISH = "swordfish";
const ana = { id: "ana" };
const session = { app: "bank", user: "ana", id: "s1" };

let folder: string;
let path: string;
let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  path = join(folder, "ledger.db");
  clock = new ManualClock();
  ledger = await createLedger(`sqlite:${path}`, { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true });
});

/** Every place in the file in which the text stands, as table.column; in documents also as calls.args. */
function placesOf(text: string): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const names = (sql: string): readonly string[] =>
    database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name));
  const tables = names("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'");
  expect(tables).toEqual(expect.arrayContaining(["documents", "log", "entries", "items"]));
  const places = tables.flatMap((table) =>
    names(`select name from pragma_table_info('${table}')`)
      .filter((column) => {
        const sql = `select 1 from ${table} where instr(cast(${column} as text), ?) > 0 limit 1`;
        return database.prepare(sql).get(text) !== undefined;
      })
      .map((column) => `${table}.${column}`),
  );
  const documents = database.prepare("select key, app, user, id, body from documents").all();
  database.close();
  return [...places, ...documents.flatMap((row) => membersWith(text, row))];
}

/** The members of a document's rows that hold the text, as calls.args. */
function membersWith(text: string, { key, body, ...name }: Record<string, unknown>): readonly string[] {
  const { head: _head, ...rows } = readDocumentText(
    String(key),
    name as unknown as SessionName,
    String(body),
  );
  return Object.entries(rows).flatMap(([kind, all]) =>
    all
      .flatMap((row) => Object.entries(row))
      .filter(([, value]) => JSON.stringify(value).includes(text))
      .map(([member]) => `${kind}.${member}`),
  );
}

/** One session with the secret in every place where a session keeps anything. */
async function fill(): Promise<string> {
  const tool = toolOf(async (_args, { step, confirm }) => {
    await step("note", () => SWORDFISH);
    await confirm("really", { hint: SWORDFISH, payload: SWORDFISH });
    return { said: SWORDFISH };
  });
  const pay = toolOf(() => SWORDFISH);
  engine.host(hostOf("bank", { tool, pay }, async () => {}));
  await engine.createSession(session, { note: SWORDFISH });
  const outcome = await receiveMessage(partsOf(engine), message(session, SWORDFISH));
  if (!outcome.ok) throw new Error(outcome.message);
  const args = { text: SWORDFISH };
  const turn = await recordTurn(partsOf(engine), outcome.frame, {
    event: modelSays(SWORDFISH),
    stateDelta: { more: SWORDFISH },
    calls: [
      planned("c1", "tool", { kind: "run", tool }, { args }),
      planned("c2", "pay", ask(SWORDFISH), { args }),
      planned("c3", "pay", ask(SWORDFISH), { args }),
      planned("c4", "pay", ask(SWORDFISH), { args }),
    ],
  });
  const [first, second] = turn?.asked ?? [];
  // Pumped: where two commits met, the second waits a little by the clock.
  const answer = { by: ana, payload: SWORDFISH, reason: SWORDFISH };
  const decided = await pumped(clock, tryApprove(engine, first?.confirmation.id ?? "", answer));
  if (decided.ok) await pumped(clock, decided.finished);
  await pumped(clock, engine.deny(second?.confirmation.id ?? "", { by: ana, reason: SWORDFISH }));
  await until(clock, async () => (await ledger.load({ session }))?.session.open === 2);
  return outcome.frame.session;
}

async function keyUnder(app: string, id: string): Promise<string> {
  return (await ledger.load({ session: { app, user: "gate", id } }))?.session.key ?? "";
}

/** Which of the commits were on disk when they were answered. */
function syncsOf({ calls }: WatchedLedger): readonly boolean[] {
  const commits = calls.filter(({ method }) => method === "commit");
  return commits.map(({ args }) => (args[0] as { readonly sync: boolean }).sync);
}

describe("a session", () => {
  test("is made once, under its name", async () => {
    const made = await engine.createSession(session);
    expect(made).toMatchObject({ ok: true });
    expect(await engine.createSession(session)).toMatchObject({ ok: false, code: "session-exists" });
    expect(await engine.createSession({ ...session, user: "bob" })).toMatchObject({ ok: true });
    expect(await engine.createSession({ ...session, app: "shop" })).toMatchObject({ ok: true });
  });

  test("shares state by the ADK's scopes, which stay in the keys; what is temporary is not kept", async () => {
    const keyOf = async (name: typeof session, state: Record<string, string>): Promise<string> => {
      const made = await engine.createSession(name, state);
      if (!made.ok) throw new Error(made.message);
      return made.key;
    };
    const first = await keyOf(session, {
      lang: "session's",
      "user:lang": "ana's",
      "app:lang": "everyone's",
      "temp:lang": "nobody's",
    });
    const sameUser = await keyOf({ ...session, id: "s2" }, {});
    const sameApp = await keyOf({ ...session, user: "bob" }, {});
    const otherApp = await keyOf({ ...session, app: "shop" }, {});
    expect(await ledger.state(first)).toEqual({
      lang: "session's",
      "user:lang": "ana's",
      "app:lang": "everyone's",
    });
    expect(await ledger.state(sameUser)).toEqual({ "user:lang": "ana's", "app:lang": "everyone's" });
    expect(await ledger.state(sameApp)).toEqual({ "app:lang": "everyone's" });
    expect(await ledger.state(otherApp)).toEqual({});
  });
});

describe("deleting a session", () => {
  test("erases what was said and done, wherever the file keeps it, and the chain still verifies", async () => {
    const key = await fill();
    await engine.head();
    expect(placesOf(SWORDFISH)).toEqual(
      expect.arrayContaining([
        "calls.args",
        "calls.result",
        "confirmations.shown",
        "confirmations.votes",
        "steps.value",
        "documents.body",
        "log.body",
        "items.value",
      ]),
    );
    expect(await engine.deleteSession(session, ana)).toEqual({ ok: true });
    expect(placesOf(SWORDFISH)).toEqual([]);
    expect(await ledger.events(key)).toEqual([]);
    expect(await engine.verify({ head: await engine.head() })).toMatchObject({ ok: true, faults: [] });
  });

  test("withdraws what is open, and keeps that it was: ids, statuses, who decided, and who deleted", async () => {
    const key = await fill();
    await engine.deleteSession(session, { id: "bob" });
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
    const calls = await ledger.calls(["c1", "c2", "c3", "c4"].map((id) => `${key}.${id}`));
    expect(calls.map(({ status }) => status)).toEqual(["cancelled", "succeeded", "denied", "cancelled"]);
    const snapshot = await ledger.load({ session });
    expect(snapshot?.session).toMatchObject({ open: 0, deletedAt: clock.now() });
    const closed = (await ledger.confirmations({ state: "closed" })).items.map(
      ({ confirmation }) => confirmation,
    );
    expect(closed.filter(({ status }) => status === "cancelled").map(({ withdrawal }) => withdrawal)).toEqual(
      ["the session was deleted", "the session was deleted"],
    );
    expect(closed.find(({ status }) => status === "denied")?.votes).toMatchObject([
      { confirmed: false, by: ana },
    ]);
    const last = (await ledger.journal.sessionRecords(key, { after: 0, limit: 100 })).at(-1);
    expect(last).toMatchObject({ kind: "session-deleted", body: { by: "bob", erased: 9 } });
  });

  test("is on disk before anybody is told: a power failure does not bring back what it withdrew", async () => {
    await fill();
    const { engine: deleting, watched } = killableEngine(ledger, clock);
    await deleting.deleteSession(session, ana);
    expect(syncsOf(watched)).toEqual([true]);
  });

  test("lets nobody decide what it withdrew, nor go on with its turn", async () => {
    await fill();
    const [open] = (await ledger.confirmations({ state: "open" })).items;
    await engine.deleteSession(session, ana);
    expect(await tryApprove(engine, open?.confirmation.id ?? "", { by: ana })).toMatchObject({
      ok: false,
      code: "withdrawn",
    });
    await engine.work({ once: true });
    const frames = await ledger.liveFrames(open?.confirmation.session ?? "");
    expect(frames.filter(({ status }) => status === "ready")).toEqual([]);
  });

  test("is refused while a call of it executes, and allowed once that has ended", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = engine.gate("slow", {}, () => promise);
    const outcome = slow({}, { key: "k", by: ana });
    const name = { app: "gate:slow", user: "gate", id: "k" };
    await until(clock, async () => (await ledger.load({ session: name })) !== undefined);
    expect(await engine.deleteSession(name, ana)).toMatchObject({ ok: false, code: "call-executing" });
    resolve("done");
    await outcome;
    expect(await engine.deleteSession(name, ana)).toEqual({ ok: true });
  });

  test("is refused while the outcome of a call is unknown: a person has to settle it first", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    let entered = false;
    const hang = doomed.gate("hang", {}, () => {
      entered = true;
      return new Promise<never>(() => {});
    });
    hang({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => entered);
    crash();
    await clock.advance(15_000);
    await engine.work({ once: true });
    const name = { app: "gate:hang", user: "gate", id: "k" };
    const refused = await engine.deleteSession(name, ana);
    expect(refused).toMatchObject({
      ok: false,
      code: "call-executing",
      message: expect.stringContaining("unknown") as string,
    });
    const [unknown] = (await ledger.unknownCalls()).items;
    await engine.decisions.settle(
      { call: unknown?.id ?? "" },
      { as: "failed", error: "gave up" },
      { by: ana },
    );
    expect(await engine.deleteSession(name, ana)).toEqual({ ok: true });
  });

  test("leaves nothing that a call says which ends later", async () => {
    const { engine: slow } = killableEngine(ledger, clock);
    const { promise, resolve } = Promise.withResolvers<string>();
    let entered = false;
    const hang = slow.gate("hang", {}, () => {
      entered = true;
      return promise;
    });
    const ended = hang({}, { key: "k", by: ana });
    await until(clock, () => entered);
    const [call] = await ledger.unanswered(await keyUnder("gate:hang", "k"));
    const { id, owner = "" } = call ?? { id: "" };
    await ledger.owners.retire(owner);
    await engine.work({ once: true });
    await engine.decisions.settle({ call: id }, { as: "failed", error: "gave up" }, { by: ana });
    await engine.deleteSession({ app: "gate:hang", user: "gate", id: "k" }, ana);
    resolve(SWORDFISH);
    await ended;
    const last = (await ledger.journal.records({ after: 0, limit: 100 })).at(-1);
    expect(last).toMatchObject({ kind: "late-result", body: { call: id, outcome: "succeeded" } });
    expect(placesOf(SWORDFISH)).toEqual([]);
  });

  test("happens once, and only to sessions that exist", async () => {
    await engine.createSession(session);
    expect(await engine.deleteSession({ ...session, id: "s9" }, ana)).toMatchObject({
      code: "unknown-session",
    });
    expect(await engine.deleteSession(session, ana)).toEqual({ ok: true });
    expect(await engine.deleteSession(session, ana)).toMatchObject({ code: "unknown-session" });
    expect((await ledger.sessions({ app: "bank" })).items).toEqual([]);
  });

  test("does not free a gated function's key: the call that had it is not run a second time", async () => {
    let runs = 0;
    const pay = engine.gate("pay", {}, async () => ++runs);
    await pay({ n: 1 }, { key: "k", by: ana });
    await engine.deleteSession({ app: "gate:pay", user: "gate", id: "k" }, ana);
    expect((await pay({ n: 1 }, { key: "k", by: ana })).status).toBe("succeeded");
    await expect(pay({ n: 2 }, { key: "k", by: ana })).rejects.toMatchObject({ code: "key-reused" });
    expect(runs).toBe(1);
  });

  test("under a key has happened when it is sent again, and not if it was refused", async () => {
    const once = { principal: "ana", route: "delete", key: "k1", requestDigest: "d1" };
    expect(await engine.deleteSession(session, ana, once)).toMatchObject({ code: "unknown-session" });
    await engine.createSession(session);
    const both = await Promise.all([1, 2].map(() => engine.deleteSession(session, ana, once)));
    expect([...both, await engine.deleteSession(session, ana, once)]).toEqual([
      { ok: true },
      { ok: true },
      { ok: true },
    ]);
    expect(await engine.deleteSession(session, ana)).toMatchObject({ code: "unknown-session" });
    expect(await engine.deleteSession(session, ana, { ...once, requestDigest: "d2" })).toMatchObject({
      code: "key-reused",
    });
    expect(await engine.createSession(session)).toMatchObject({ ok: false, code: "session-deleted" });
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test("leaves what belongs to the user and the app", async () => {
    await engine.createSession(session, { "user:lang": "de", "app:motd": "hi", note: "gone" });
    await engine.deleteSession(session, ana);
    const made = await engine.createSession({ ...session, id: "s2" });
    if (!made.ok) throw new Error(made.message);
    expect(await ledger.state(made.key)).toEqual({ "user:lang": "de", "app:motd": "hi" });
  });
});
