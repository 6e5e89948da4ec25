import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import {
  allHolds,
  Engine,
  isLedgerSuspended,
  ManualClock,
  OutcomeUnknown,
  partsOf,
  placeHold,
  releaseHold,
  resumeLedger,
  suspendLedger,
  toPrincipal,
} from "../../engine/index.ts";
import { killableEngine, until, watch } from "../../engine/testing/execution.ts";
import { TenantRegistry } from "../../http/index.ts";
import { createEngine, createLedger } from "../../index.ts";
import { inspectLedger, migrateLedger } from "../../stores/index.ts";
import {
  createTenant,
  eraseTenant,
  exportTenant,
  limitTenant,
  resumeTenant,
  type Subject,
  suspendTenant,
} from "./change-tenant.ts";

const resources = useResources();
const by = { by: { id: "olga" } };
const ana = { id: "ana" };

async function setUp(name = "acme", folder?: string) {
  const at = folder ?? (await resources.folder());
  const engine = await createEngine({ ledger: `sqlite:${join(at, "registry.db")}` });
  resources.add(() => engine.close());
  const registry = new TenantRegistry(engine);
  const file = join(at, `${name}.db`);
  const subject: Subject = { registry, name };
  return { folder: at, registry, subject, file, wanted: { ledger: `sqlite:${file}`, limits: {} } };
}

/** Asks one question in the tenant's ledger, and returns its id. */
async function ask(ledger: string): Promise<string> {
  const engine = await createEngine({ ledger });
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  const asked = await pay({}, { key: "k", by: ana });
  await engine.close();
  if (asked.status !== "pending") throw new Error(asked.status);
  return asked.confirmation.id;
}

test("a tenant is created, suspended, resumed, suspended and erased; the registry keeps a record", async () => {
  const { registry, subject, file, wanted } = await setUp();
  expect(await createTenant(subject, wanted)).toMatchObject({ state: "active", ledger: wanted.ledger });
  await ask(wanted.ledger);
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "forbidden" });
  expect(await suspendTenant(subject)).toMatchObject({ state: "suspended" });
  expect(await resumeTenant(subject)).toMatchObject({ state: "active" });
  await suspendTenant(subject);
  expect(await eraseTenant(subject)).toMatchObject({ state: "erased" });
  expect(existsSync(file)).toBe(false);
  expect(await registry.all()).toMatchObject([{ name: "acme", state: "erased" }]);
  await expect(createTenant(subject, wanted)).rejects.toMatchObject({ code: "malformed-request" });
  await expect(resumeTenant(subject)).rejects.toMatchObject({ code: "forbidden" });
});

test("nothing of a suspended tenant starts, in whichever process, until it is resumed", async () => {
  const { subject, wanted } = await setUp();
  await createTenant(subject, wanted);
  const id = await ask(wanted.ledger);
  const host = await createEngine({ ledger: wanted.ledger });
  resources.add(() => host.close());
  let runs = 0;
  host.gate("pay", { requireConfirmation: true }, async () => {
    runs += 1;
    return runs;
  });
  await suspendTenant(subject);
  await expect(host.approve(id, { by: ana })).rejects.toMatchObject({ code: "suspended" });
  await resumeTenant(subject);
  expect(await (await host.approve(id, { by: ana })).finished).toMatchObject({ status: "succeeded" });
});

test("a creation that was killed is finished by the next one, wherever it was", async () => {
  const { registry, subject, wanted } = await setUp();
  const other = { ...subject, name: "globex" };
  const elsewhere = { ...wanted, ledger: wanted.ledger.replace("acme", "globex") };
  // Before the ledger was made, and after that.
  for (const name of ["acme", "globex"])
    await registry.add({ name, ledger: name === "acme" ? wanted.ledger : elsewhere.ledger }, by);
  await migrateLedger(elsewhere.ledger);
  await expect(createTenant(subject, elsewhere)).rejects.toMatchObject({ code: "invalid-option" });
  expect(await createTenant(subject, wanted)).toMatchObject({ state: "active" });
  expect(await createTenant(other, elsewhere)).toMatchObject({ state: "active" });
});

test("an erasure that was killed is finished by the next one, wherever it was", async () => {
  const { registry, subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  await suspendTenant(subject);
  await registry.move("acme", { from: ["suspended"], to: "erasing", ...by });
  await expect(resumeTenant(subject)).rejects.toMatchObject({ code: "forbidden" });
  expect(await eraseTenant(subject)).toMatchObject({ state: "erased" });
  expect(existsSync(file)).toBe(false);
  const gone = await setUp("gone");
  await createTenant(gone.subject, gone.wanted);
  await suspendTenant(gone.subject);
  await gone.registry.move("gone", { from: ["suspended"], to: "erasing", ...by });
  rmSync(gone.file);
  expect(await eraseTenant(gone.subject)).toMatchObject({ state: "erased" });
});

test("a tenant under a legal hold is not erased, nor is one whose erasure had begun", async () => {
  const { registry, subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  const engine = await createEngine({ ledger: wanted.ledger });
  resources.add(() => engine.close());
  const decider = { by: toPrincipal(ana), via: "cli" };
  const place = () => placeHold(partsOf(engine), { on: "user", name: "ana", reason: "case 1" }, decider);
  const first = await place();
  await suspendTenant(subject);
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "under-hold" });
  expect(await registry.get("acme")).toMatchObject({ state: "suspended" });
  await releaseHold(partsOf(engine), { id: first.id, reason: "closed" }, decider);
  await registry.move("acme", { from: ["suspended"], to: "erasing", ...by });
  await place();
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "under-hold" });
  expect([existsSync(file), (await allHolds(engine.ledger)).length]).toEqual([true, 1]);
});

test("a hold that is on its way when a tenant is erased is refused, and not lost with the ledger", async () => {
  const { subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  await suspendTenant(subject);
  const ledger = await createLedger(wanted.ledger);
  const watched = watch(ledger);
  const engine = new Engine({ ledger: watched.ledger });
  resources.add(() => engine.close());
  watched.intercept("commit", async (pass) => {
    watched.lift("commit");
    await eraseTenant(subject);
    return pass();
  });
  const decider = { by: toPrincipal(ana), via: "cli" };
  const placed = placeHold(partsOf(engine), { on: "user", name: "ana", reason: "case 1" }, decider);
  await expect(placed).rejects.toMatchObject({ code: "forbidden" });
  expect(existsSync(file)).toBe(false);
});

test("a tenant with a call that runs, or whose outcome is unknown, is not erased", async () => {
  const { subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  const engine = await createEngine({ ledger: wanted.ledger });
  resources.add(() => engine.close());
  const [started, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const pay = engine.gate("pay", {}, () => {
    started.resolve();
    return answered.promise;
  });
  const outcome = pay({}, { key: "k", by: ana });
  await started.promise;
  await suspendTenant(subject);
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "call-executing" });
  answered.reject(new OutcomeUnknown("the bank did not answer"));
  const unknown = await outcome;
  if (unknown.status !== "unknown") throw new Error(unknown.status);
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "call-executing" });
  expect(existsSync(file)).toBe(true);
  await engine.settleCall(unknown.callId, { as: "succeeded", result: "paid" }, { by: ana });
  expect(await eraseTenant(subject)).toMatchObject({ state: "erased" });
});

test("a tenant with a call that may have run, because its process was lost, is not erased", async () => {
  const { subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  const clock = new ManualClock();
  const ledger = await createLedger(wanted.ledger, { clock });
  const { engine, crash } = killableEngine(ledger, clock);
  let isStarted = false;
  const pay = engine.gate("pay", { idempotent: true }, () => {
    isStarted = true;
    return new Promise<never>(() => {});
  });
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, () => isStarted);
  crash();
  const survivor = new Engine({ ledger, clock });
  resources.add(() => survivor.close());
  await clock.advance(60_000);
  await survivor.work({ once: true });
  await suspendTenant(subject);
  await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "call-executing" });
  expect(existsSync(file)).toBe(true);
});

test("a suspension and a resumption that were killed are finished by the next one, or taken back", async () => {
  const { registry, subject, wanted } = await setUp();
  await createTenant(subject, wanted);
  await registry.move("acme", { from: ["active"], to: "suspending", ...by });
  expect(await suspendTenant(subject)).toMatchObject({ state: "suspended" });
  await registry.move("acme", { from: ["suspended"], to: "resuming", ...by });
  expect(await resumeTenant(subject)).toMatchObject({ state: "active" });
  await registry.move("acme", { from: ["active"], to: "suspending", ...by });
  expect(await resumeTenant(subject)).toMatchObject({ state: "active" });
});

/** Does this right after the first change that the command makes in the registry. */
function afterFirstMove({ registry }: Subject, act: () => Promise<unknown>): void {
  const move = registry.move.bind(registry);
  vi.spyOn(registry, "move").mockImplementationOnce(async (...given) => {
    const moved = await move(...given);
    await act();
    return moved;
  });
}

/** A tenant, two commands that change it, and whether its ledger lets anything start. */
async function setUpTwo() {
  const first = await setUp();
  const second = await setUp("acme", first.folder);
  await createTenant(first.subject, first.wanted);
  const ledger = await createLedger(first.wanted.ledger);
  resources.add(() => ledger.close());
  const isSuspended = () => isLedgerSuspended(ledger.items);
  const state = async () => [(await first.registry.get("acme")).state, await isSuspended()];
  return { one: first.subject, other: second.subject, registry: second.registry, items: ledger.items, state };
}

const OVERTAKEN = { code: "forbidden" };

test("of a suspension and a resumption at once, the later one decides for registry and ledger alike", async () => {
  const { one, other, state } = await setUpTwo();
  afterFirstMove(one, () => resumeTenant(other));
  await expect(suspendTenant(one)).rejects.toMatchObject(OVERTAKEN);
  expect(await state()).toEqual(["active", false]);
  await suspendTenant(one);
  afterFirstMove(one, () => suspendTenant(other));
  await expect(resumeTenant(one)).rejects.toMatchObject(OVERTAKEN);
  expect(await state()).toEqual(["suspended", true]);
});

test("a suspension that was overtaken twice does not finish another one, whose mark is not there yet", async () => {
  const { one, registry, state } = await setUpTwo();
  afterFirstMove(one, async () => {
    await registry.move("acme", { from: ["suspending"], to: "resuming", ...by });
    await registry.move("acme", { from: ["resuming"], to: "suspending", ...by });
  });
  await expect(suspendTenant(one)).rejects.toMatchObject(OVERTAKEN);
  expect(await state()).toEqual(["suspending", true]);
});

test("a resumption that stalls while another one and a suspension run does not undo the suspension", async () => {
  const { one, other, state } = await setUpTwo();
  await suspendTenant(one);
  afterFirstMove(one, async () => {
    await resumeTenant(other);
    await suspendTenant(other);
  });
  await expect(resumeTenant(one)).rejects.toMatchObject(OVERTAKEN);
  expect(await state()).toEqual(["suspended", true]);
});

test("a registry that is an older copy neither suspends nor resumes, and says so", async () => {
  const { one, items, state } = await setUpTwo();
  await resumeLedger(items, 100);
  await expect(suspendTenant(one)).rejects.toMatchObject({ code: "ledger-mismatch" });
  expect(await state()).toEqual(["suspending", false]);
  await suspendLedger(items, {}, 101);
  await expect(resumeTenant(one)).rejects.toMatchObject({ code: "ledger-mismatch" });
  // Nothing moves: a copy that is one change behind would count up to the order that it does not know.
  expect(await state()).toEqual(["suspending", true]);
});

test("a registry that is one change behind does not resume what that change suspended", async () => {
  const { one, items, state } = await setUpTwo();
  const { version } = await one.registry.get("acme");
  await suspendLedger(items, {}, version + 1);
  await expect(resumeTenant(one)).rejects.toMatchObject({ code: "ledger-mismatch" });
  expect(await state()).toEqual(["active", true]);
});

test("the mark of a suspension that was overtaken and then killed is removed by resuming again", async () => {
  const { one, items, state } = await setUpTwo();
  await suspendLedger(items, {}, 1);
  expect(await state()).toEqual(["active", true]);
  expect(await resumeTenant(one)).toMatchObject({ state: "active" });
  expect(await state()).toEqual(["active", false]);
});

test("a ledger that exists, or that is another tenant's, becomes nobody else's", async () => {
  const { registry, subject, wanted } = await setUp();
  await migrateLedger(wanted.ledger);
  await expect(createTenant(subject, wanted)).rejects.toMatchObject({ code: "invalid-option" });
  const own = { ...wanted, ledger: wanted.ledger.replace("acme", "own") };
  await createTenant({ ...subject, name: "own" }, own);
  // It began before the other one was there.
  await registry.add({ name: "late", ledger: own.ledger }, by);
  await expect(createTenant({ ...subject, name: "late" }, own)).rejects.toThrow(/belongs to another tenant/);
  expect(await registry.get("late")).toMatchObject({ state: "erased" });
  expect((await inspectLedger(own.ledger)).exists).toBe(true);
});

test("a ledger that took the place of a tenant's own is neither suspended nor erased", async () => {
  const { subject, file, wanted } = await setUp();
  await createTenant(subject, wanted);
  await suspendTenant(subject);
  rmSync(file);
  await expect(resumeTenant(subject)).rejects.toMatchObject({ code: "ledger-unreachable" });
  await migrateLedger(wanted.ledger);
  await expect(suspendTenant(subject)).rejects.toMatchObject({ code: "ledger-mismatch" });
});

test("an export is a complete ledger that verifies, and nothing starts from it", async () => {
  const { subject, folder, wanted } = await setUp();
  await createTenant(subject, wanted);
  const id = await ask(wanted.ledger);
  await suspendTenant(subject);
  await resumeTenant(subject);
  const original = await createEngine({ ledger: wanted.ledger });
  resources.add(() => original.close());
  const head = await original.head();
  const file = await exportTenant(subject, join(folder, "out"));
  await expect(exportTenant(subject, join(folder, "out"))).rejects.toMatchObject({ code: "invalid-option" });
  const copy = await createEngine({ ledger: `sqlite:${file}` });
  resources.add(() => copy.close());
  expect(await copy.verify({ head })).toMatchObject({ ok: true, streams: 1 });
  let runs = 0;
  copy.gate("pay", { requireConfirmation: true }, async () => {
    runs += 1;
    return runs;
  });
  await expect(copy.approve(id, { by: ana })).rejects.toMatchObject({ code: "suspended" });
  expect([runs, (await original.confirmation(id)).status]).toEqual([0, "requested"]);
});

test("limits are kept one by one, and 0 takes one away", async () => {
  const { subject, wanted } = await setUp();
  await createTenant(subject, { ...wanted, limits: { pending: 5, bytes: 1_000 } });
  expect((await limitTenant(subject, { sessions: 7, bytes: 0 })).limits).toEqual({ pending: 5, sessions: 7 });
});

test("the registry stores no password", async () => {
  const { subject } = await setUp();
  for (const ledger of [
    "postgres://app:secret@db/acme",
    "postgres://app@db/acme?password=x",
    "memory:",
    "mysql://x",
  ])
    await expect(createTenant(subject, { ledger, limits: {} })).rejects.toMatchObject({
      code: "invalid-option",
    });
});

test("a ledger that is suspended stays so for whoever opens it", async () => {
  const { subject, wanted } = await setUp();
  await createTenant(subject, wanted);
  const ledger = await createLedger(wanted.ledger);
  resources.add(() => ledger.close());
  await suspendLedger(ledger.items, {});
  const engine = await createEngine({ ledger: wanted.ledger });
  resources.add(() => engine.close());
  const run = engine.gate("run", {}, async () => 1);
  await expect(run({}, { key: "k", by: ana })).rejects.toMatchObject({ code: "suspended" });
});
