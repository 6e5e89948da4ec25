import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PERSONAL_ITEMS } from "../../retention/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { PolicySource } from "../gate/index.ts";
import { placeHold, releaseHold } from "../holds/index.ts";
import { partsOf } from "../index.ts";
import type { SessionRecord } from "../ledger/index.ts";
import { toPrincipal, userOfCaller } from "../people/index.ts";
import { killableEngine } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { erasePerson, type PersonErased } from "./index.ts";

const NAME = "zebedee@corp";
const decider = { by: toPrincipal({ id: "dpo" }), via: "cli" };
const zeb = { id: NAME };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function open(
  url = `sqlite:${join(folder, "ledger.db")}`,
  options: Pick<EngineOptions, "policy"> = {},
): Promise<Engine> {
  const clock = new ManualClock();
  const engine = new Engine({ ...options, ledger: await createLedger(url, { clock }), clock });
  onTestFinished(() => engine.close());
  return engine;
}

function erase(engine: Engine, others = false): Promise<PersonErased> {
  return erasePerson(partsOf(engine), { user: NAME, decider, others, items: PERSONAL_ITEMS });
}

/** All that is in the files of the ledger. */
function bytes(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");
}

/** The person has sessions, one deleted by themselves, and has asked and decided in those of others. */
async function usedBy(engine: Engine): Promise<void> {
  await engine.createSession({ app: "bank", user: NAME, id: "s1" }, { note: NAME, "user:mood": "good" });
  await engine.createSession({ app: "bank", user: NAME, id: "s2" });
  await engine.deleteSession({ app: "bank", user: NAME, id: "s2" }, zeb);
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  for (let n = 0; n < 8; n += 1) {
    const asked = await pay({ n }, { key: `k${n}`, by: n % 2 === 0 ? zeb : { id: "bob" } });
    if (asked.status !== "pending") throw new Error("Not pending.");
    const approved = await tryApprove(engine, asked.confirmation.id, { by: zeb, reason: `says ${NAME}` });
    if (approved.ok) await approved.finished;
  }
  const { items } = engine.ledger;
  await items.put({ kind: "token", id: "t1", value: { user: NAME } }, 0);
  await items.put({ kind: "token", id: "t2", value: { user: "bob" } }, 0);
  await items.put({ kind: "notification-settings", id: NAME, value: {} }, 0);
}

describe("erasing a person", () => {
  test("leaves their name nowhere in the file, and a chain that verifies", async () => {
    const engine = await open();
    await usedBy(engine);
    const erased = await erase(engine, true);
    expect(erased).toMatchObject({ sessions: 10, items: 3, named: 0, left: [] });
    expect(await engine.verify()).toMatchObject({ ok: true });
    expect((await engine.ledger.items.list("token")).items).toMatchObject([{ id: "t2" }]);
    const records = await engine.ledger.journal.records({ after: 0, limit: 500 });
    expect(records.at(-1)).toMatchObject({
      kind: "person-erased",
      body: { person: erased.person, sessions: 10, items: 3, left: 0, by: { id: "dpo" }, via: "cli" },
    });
    await engine.close();
    expect(bytes()).toContain(erased.person);
    expect(bytes()).not.toContain(NAME);
  });

  test("erases all ids that the policy gives them, and says which these were", async () => {
    const ids = [NAME, "slack:U-quokka"];
    const policy: PolicySource = {
      version: "v1",
      text: "",
      judge: () => undefined,
      group: () => undefined,
      person: (id) => (ids.includes(id) ? NAME : id),
      logins: (id) => (ids.includes(id) ? ids : [id]),
    };
    const engine = await open(undefined, { policy });
    const { items } = engine.ledger;
    for (const user of [...ids, "bob"]) {
      await engine.createSession({ app: "bank", user, id: "s1" }, { note: user, "user:mood": "good" });
      await items.put({ kind: "token", id: `of ${user.length}`, value: { user } }, 0);
    }
    const hold = await placeHold(
      partsOf(engine),
      { on: "user", name: "slack:U-quokka", reason: "case 1" },
      decider,
    );
    await expect(erase(engine)).rejects.toMatchObject({ code: "under-hold" });
    await releaseHold(partsOf(engine), { id: hold.id, reason: "closed" }, decider);
    expect(await erase(engine)).toMatchObject({ logins: ids, sessions: 2, items: 4, left: [] });
    const records = await engine.ledger.journal.records({ after: 0, limit: 500 });
    expect(records.at(-1)?.body).toMatchObject({ others: [expect.stringMatching(/^person-/)] });
    expect((await items.list("token")).items).toMatchObject([{ value: { user: "bob" } }]);
    expect(await engine.verify()).toMatchObject({ ok: true });
    await engine.close();
    for (const id of ids) expect(bytes()).not.toContain(id);
    expect(bytes()).toContain("bob");
  });

  test("counts the sessions of others that name them, and leaves those unless asked", async () => {
    const engine = await open("memory:");
    await usedBy(engine);
    expect(await erase(engine)).toMatchObject({ sessions: 2, named: 8, left: [] });
    expect(await erase(engine)).toMatchObject({ sessions: 0, items: 0, named: 8 });
    expect(await erase(engine, true)).toMatchObject({ sessions: 8, named: 0 });
    expect(await erase(engine, true)).toMatchObject({ sessions: 0, items: 0, named: 0, left: [] });
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test.each(["memory:", "sqlite"])("does not free the names of their sessions, on %s", async (url) => {
    const engine = await open(url === "sqlite" ? undefined : url);
    const name = { app: "bank", user: NAME, id: "s1" };
    await engine.createSession(name);
    await erase(engine);
    expect(await engine.createSession(name)).toMatchObject({ ok: false, code: "session-deleted" });
    expect(await engine.createSession({ ...name, id: "s9" })).toMatchObject({ ok: true });
  });

  test.each(["memory:", "sqlite"])(
    "does not run again what ran under their name as a key, on %s",
    async (url) => {
      const engine = await open(url === "sqlite" ? undefined : url);
      let runs = 0;
      const pay = engine.gate("pay", { requireConfirmation: true }, async () => (runs += 1));
      const asked = await pay({}, { key: NAME, by: zeb });
      if (asked.status !== "pending") throw new Error("Not pending.");
      const approved = await tryApprove(engine, asked.confirmation.id, { by: zeb });
      if (approved.ok) await approved.finished;
      expect(await erase(engine, true)).toMatchObject({ sessions: 1, left: [] });
      const again = await pay({}, { key: NAME, by: zeb }).catch((error: unknown) => error);
      expect(again).not.toMatchObject({ status: "pending" });
      expect(runs).toBe(1);
      expect(await engine.pending()).toEqual([]);
    },
  );

  test("leaves what waits, says which session it is, and goes on when it was decided", async () => {
    const engine = await open("memory:");
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const asked = await pay({}, { key: "k1", by: zeb });
    if (asked.status !== "pending") throw new Error("Not pending.");
    const first = await erase(engine, true);
    expect(first).toMatchObject({ sessions: 0, left: [{ why: expect.stringContaining("waits") as string }] });
    expect(await engine.pending()).toHaveLength(1);
    const approved = await tryApprove(engine, asked.confirmation.id, { by: zeb });
    if (approved.ok) expect(await approved.finished).toMatchObject({ status: "succeeded" });
    expect(await erase(engine, true)).toMatchObject({ sessions: 1, left: [] });
  });

  test("leaves the state of a user whose session was left, and removes it with that session", async () => {
    const engine = await open("memory:");
    for (const app of ["bank", "shop"])
      await engine.createSession({ app, user: NAME, id: "s1" }, { "user:mood": "good" });
    const hold = await placeHold(partsOf(engine), { on: "app", name: "bank", reason: "case 7" }, decider);
    expect(await erase(engine)).toMatchObject({ sessions: 1, items: 1, left: [{}] });
    const states = await engine.ledger.items.list("state of user");
    expect(states.items).toMatchObject([{ id: JSON.stringify(["bank", NAME]) }]);
    await releaseHold(partsOf(engine), { id: hold.id, reason: "closed" }, decider);
    expect(await erase(engine)).toMatchObject({ sessions: 1, items: 1, left: [] });
    expect(await engine.ledger.items.list("state of user")).toMatchObject({ items: [] });
  });

  test("removes the state of the sessions of their calls too", async () => {
    const engine = await open("memory:");
    const name = { app: "bank", user: userOfCaller(NAME), id: "s1" };
    await engine.createSession(name, { "user:mood": "good" });
    expect(await erase(engine)).toMatchObject({ sessions: 1, items: 1 });
  });

  test("removes items again if one changed meanwhile, and tells of them once", async () => {
    const ledger = await createLedger("memory:", { clock: new ManualClock() });
    await ledger.items.put({ kind: "token", id: "t1", value: { user: NAME } }, 0);
    const { engine, watched } = killableEngine(ledger, new ManualClock());
    onTestFinished(() => engine.close());
    watched.intercept("commit", async (pass) => {
      await ledger.items.put({ kind: "token", id: "t1", value: { user: NAME, lastUsedDay: 1 } }, 1);
      return pass();
    });
    expect(await erase(engine)).toMatchObject({ items: 1 });
    expect(await ledger.items.get("token", "t1")).toBeUndefined();
    const records = await ledger.journal.records({ after: 0, limit: 10 });
    expect(records.map(({ kind }) => kind)).toEqual(["person-erased"]);
  });

  test("is refused while a hold is on them, and leaves what another hold keeps", async () => {
    const engine = await open("memory:");
    await engine.createSession({ app: "bank", user: NAME, id: "s1" });
    const hold = { on: "app", name: "bank", reason: "case 7" } as const;
    await placeHold(partsOf(engine), hold, decider);
    expect(await erase(engine)).toMatchObject({
      sessions: 0,
      left: [{ why: expect.stringContaining("hold") as string }],
    });
    await placeHold(partsOf(engine), { ...hold, on: "user", name: NAME }, decider);
    await expect(erase(engine)).rejects.toMatchObject({ code: "under-hold" });
  });

  test("leaves the name in an erased session, and the state, that a hold keeps", async () => {
    const engine = await open("memory:");
    const name = { app: "bank", user: NAME, id: "s1" };
    await engine.createSession(name, { "user:mood": "good" });
    await engine.deleteSession(name, zeb);
    const hold = await placeHold(partsOf(engine), { on: "app", name: "bank", reason: "case 7" }, decider);
    const why = expect.stringContaining("hold") as string;
    expect(await erase(engine)).toMatchObject({ sessions: 0, items: 0, left: [{ why }] });
    const { items } = await engine.ledger.sessions("all");
    expect(items.map(({ user }) => user)).toContain(NAME);
    await releaseHold(partsOf(engine), { id: hold.id, reason: "closed" }, decider);
    expect(await erase(engine)).toMatchObject({ items: 1, left: [] });
  });

  test("does not replace the name of who decided in an erased session that a hold keeps", async () => {
    const engine = await open("memory:");
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const asked = await pay({}, { key: "k1", by: { id: "bob" } });
    if (asked.status !== "pending") throw new Error("Not pending.");
    const approved = await tryApprove(engine, asked.confirmation.id, { by: zeb });
    if (approved.ok) await approved.finished;
    const [{ key, app, user, id }] = (await engine.ledger.sessions("all")).items as [SessionRecord];
    expect(await engine.deleteSession({ app, user, id }, { id: "bob" })).toEqual({ ok: true });
    await placeHold(partsOf(engine), { on: "session", name: key, reason: "case 7" }, decider);
    expect(await erase(engine)).toMatchObject({ left: [{ session: key }] });
    const { confirmation } = (await engine.ledger.load({ confirmation: asked.confirmation.id })) ?? {};
    expect(confirmation?.votes[0]?.person).toBe(NAME);
  });

  test.each([
    ["while sessions are erased", "anonymise", 1],
    ["while items are removed", "commit", 0],
  ] as const)("keeps their items if a hold is placed on them %s", async (_when, method, sessions) => {
    const ledger = await createLedger("memory:", { clock: new ManualClock() });
    const { engine, watched } = killableEngine(ledger, new ManualClock());
    onTestFinished(() => engine.close());
    await ledger.items.put({ kind: "token", id: "t1", value: { user: NAME } }, 0);
    if (sessions > 0) await engine.createSession({ app: "bank", user: NAME, id: "s1" });
    watched.intercept(method, async (pass) => {
      watched.lift(method);
      await placeHold(partsOf(engine), { on: "user", name: NAME, reason: "case 7" }, decider);
      return pass();
    });
    await expect(erase(engine)).rejects.toMatchObject({ code: "under-hold" });
    expect(await ledger.items.get("token", "t1")).toBeDefined();
    const records = await ledger.journal.records({ after: 0, limit: 50 });
    expect(records.at(-1)).toMatchObject({ kind: "person-erased", body: { sessions, items: 0 } });
  });
});
