import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createDatabase, createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  createTenant,
  eraseTenant,
  exportTenant,
  resumeTenant,
  type Subject,
  suspendTenant,
} from "../../cli/tenants/change-tenant.ts";
import {
  Engine,
  endHolds,
  partsOf,
  placeHold,
  releaseHold,
  TenantRegistry,
  toPrincipal,
} from "../../engine/index.ts";
import { watch } from "../../engine/testing/execution.ts";
import { createEngine, createLedger } from "../../index.ts";

const resources = useResources();
/** Schemas are made and dropped, which takes long on a busy machine. */
const PATIENT = { timeout: 240_000 };
const ana = { id: "ana" };
const counsel = { by: toPrincipal({ id: "counsel" }), via: "cli" };
/** What is in a database that the server itself did not bring; roles that are called after us, and who has rights there. */
const LEFT = `
  select 'schema ' || nspname as what from pg_namespace where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')
  union all select 'relation ' || c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'function ' || p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'type ' || t.oid::regtype from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'extension ' || extname from pg_extension
  union all select 'trigger ' || evtname from pg_event_trigger
  union all select 'large object ' || oid from pg_largeobject_metadata
  union all select 'publication ' || pubname from pg_publication
  union all select 'setting ' || s.setconfig::text from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
    where d.datname = current_database()
  union all select 'role ' || rolname from pg_roles where rolname ~ 'countersign|acme'
  union all select 'right of ' || s.refobjid::regrole from pg_shdepend s join pg_database d on d.oid = s.dbid
    where d.datname = current_database() and s.refclassid = 'pg_authid'::regclass
  order by 1`;

async function leftIn(url: string): Promise<readonly string[]> {
  const [found] = await execute(url, LEFT);
  return (found?.rows ?? []).map(({ what }: { readonly what: string }) => what);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A database whose URL has no password; that is in the environment. */
async function createPlace(): Promise<string> {
  const url = new URL(await createEmptyDatabase(resources));
  vi.stubEnv("PGPASSWORD", url.password);
  url.password = "";
  return url.href;
}

/** A tenant whose ledger, and whose registry, are PostgreSQL databases. */
async function setUp() {
  const [ledger, registryUrl] = [await createPlace(), await createDatabase(resources)];
  const before = await leftIn(ledger);
  const engine = new Engine({ ledger: await createLedger(registryUrl) });
  resources.add(() => engine.close());
  const subject: Subject = { registry: new TenantRegistry(engine), name: "acme" };
  expect(await createTenant(subject, { ledger, limits: {} })).toMatchObject({ state: "active", ledger });
  return { ledger, registryUrl, subject, before };
}

async function payTo({ to }: { readonly to: string }): Promise<string> {
  return `paid ${to}`;
}

/** A call that ran, and one that is asked about; the question's id. */
async function use(ledger: string): Promise<string> {
  const engine = await createEngine({ ledger });
  try {
    const pay = engine.gate("pay", { requireConfirmation: true }, payTo);
    for (const to of ["quokka", "wombat"]) {
      const asked = await pay({ to }, { key: to, by: ana });
      if (asked.status !== "pending") throw new Error(asked.status);
      if (to === "wombat") return asked.confirmation.id;
      await (await engine.approve(asked.confirmation.id, { by: ana })).finished;
    }
    throw new Error("Nothing was asked.");
  } finally {
    await engine.close();
  }
}

test(
  "the export of a PostgreSQL ledger is complete, verifies without the server, and starts nothing",
  PATIENT,
  async () => {
    const { ledger, subject } = await setUp();
    const id = await use(ledger);
    await suspendTenant(subject);
    await resumeTenant(subject);
    const original = await createEngine({ ledger });
    const head = await original.head();
    const told = await original.ledger.journal.records({ after: 0, limit: 1_000 });
    const asked = await original.confirmation(id);
    await original.close();
    const folder = await resources.folder();
    const file = await exportTenant(subject, join(folder, "out"));
    expect([file, statSync(file).mode & 0o077]).toEqual([join(folder, "out", "ledger.db"), 0]);
    // What follows is about the file alone.
    await suspendTenant(subject);
    await eraseTenant(subject);
    const copy = await createEngine({ ledger: `sqlite:${file}` });
    resources.add(() => copy.close());
    expect(await copy.verify({ head })).toMatchObject({ ok: true });
    const copied = await copy.ledger.journal.records({ after: 0, limit: 1_000 });
    expect(copied.map(({ kind, body }) => ({ kind, body }))).toEqual(
      told.map(({ kind, body }) => ({ kind, body })),
    );
    expect(JSON.stringify(copied)).toContain("pay");
    expect(await copy.confirmation(id)).toEqual(asked);
    let runs = 0;
    copy.gate("pay", { requireConfirmation: true }, async () => {
      runs += 1;
      return runs;
    });
    await expect(copy.approve(id, { by: ana })).rejects.toMatchObject({ code: "suspended" });
    await copy.work({ once: true });
    expect(runs).toBe(0);
    expect(existsSync(`${file}.partial`)).toBe(false);
  },
);

test(
  "erasing a tenant leaves nothing in its PostgreSQL database, and none of its content in the registry",
  PATIENT,
  async () => {
    const { ledger, registryUrl, subject, before } = await setUp();
    await use(ledger);
    const made = (await leftIn(ledger)).filter((what) => !before.includes(what));
    expect(made).toContain("schema countersign");
    await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "forbidden" });
    await suspendTenant(subject);
    expect(await eraseTenant(subject)).toMatchObject({ state: "erased" });
    expect(await leftIn(ledger)).toEqual(before);
    const [items] = await execute(
      registryUrl,
      "select array_to_string(value, ' ') as said from countersign.items",
    );
    const [log] = await execute(registryUrl, "select body as said from countersign.log");
    const said = JSON.stringify([items?.rows, log?.rows]);
    expect(said).toContain("acme");
    for (const word of ["quokka", "wombat", "ana"]) expect(said).not.toContain(`"${word}"`);
    await expect(createTenant(subject, { ledger, limits: {} })).rejects.toMatchObject({
      code: "malformed-request",
    });
  },
);

test(
  "of two tenants in one database, one is suspended, exported and erased, and the other goes on",
  PATIENT,
  async () => {
    const place = await createPlace();
    const engine = new Engine({ ledger: await createLedger(await createDatabase(resources)) });
    resources.add(() => engine.close());
    const registry = new TenantRegistry(engine);
    const [acme, globex] = ["acme", "globex"].map((name) => ({ registry, name })) as [Subject, Subject];
    const ledgerOf = ({ name }: Subject): string => `${place}?schema=countersign_${name}`;
    for (const subject of [acme, globex])
      await createTenant(subject, { ledger: ledgerOf(subject), limits: {} });
    await expect(
      createTenant({ registry, name: "initech" }, { ledger: ledgerOf(acme), limits: {} }),
    ).rejects.toMatchObject({ code: "invalid-option" });
    const ids = [await use(ledgerOf(acme)), await use(ledgerOf(globex))] as const;
    await suspendTenant(acme);
    const started = await createEngine({ ledger: ledgerOf(globex) });
    resources.add(() => started.close());
    started.gate("pay", { requireConfirmation: true }, payTo);
    const { finished } = await started.approve(ids[1], { by: ana });
    expect(await finished).toMatchObject({ status: "succeeded", result: "paid wombat" });
    const folder = await resources.folder();
    const copy = await createEngine({ ledger: `sqlite:${await exportTenant(acme, join(folder, "out"))}` });
    resources.add(() => copy.close());
    expect(await copy.verify()).toMatchObject({ ok: true });
    await eraseTenant(acme);
    const schemas = (await leftIn(place)).filter((what) => what.startsWith("schema "));
    expect(schemas).toEqual(["schema countersign_globex"]);
    expect((await leftIn(place)).filter((what) => what.includes("acme"))).toEqual([]);
    expect(await started.verify()).toMatchObject({ ok: true });
  },
);

test(
  "a hold that stands refuses the erasure of a PostgreSQL tenant, and the erasure one that is on its way",
  PATIENT,
  async () => {
    const { ledger, subject, before } = await setUp();
    await suspendTenant(subject);
    const watched = watch(await createLedger(ledger));
    const engine = new Engine({ ledger: watched.ledger });
    resources.add(() => engine.close());
    const place = () => placeHold(partsOf(engine), { on: "user", name: "ana", reason: "case 1" }, counsel);
    const { id } = await place();
    await expect(eraseTenant(subject)).rejects.toMatchObject({ code: "under-hold" });
    await releaseHold(partsOf(engine), { id, reason: "closed" }, counsel);
    const erasing = await createLedger(ledger);
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      await endHolds(erasing);
      return pass();
    });
    await expect(place()).rejects.toMatchObject({ code: "forbidden" });
    await erasing.close();
    watched.intercept("commit", async (pass) => {
      await eraseTenant(subject);
      return pass();
    });
    await expect(engine.createSession({ app: "bank", user: "ana", id: "s1" })).rejects.toBeInstanceOf(Error);
    expect(await leftIn(ledger)).toEqual(before);
  },
);
