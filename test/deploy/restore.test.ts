import { copyFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import type { Call, CallRecord, Engine, GatedFunction } from "../../src/engine/index.ts";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { createEngine } from "../../src/index.ts";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { startInstalledPostgres } from "../support/postgres/installed-server.ts";
import { execute } from "../support/postgres/server.ts";
import { type Resources, useResources } from "../support/resources.ts";
import { Operator, typedAfter } from "./operator.ts";

const resources = useResources();
vi.setConfig({ testTimeout: 180_000 });
const ana = { id: "ana" };
const LEASE = { leaseMs: 500, heartbeatMs: 150 };

/** A ledger that is backed up while it is used, and a way to type commands beside it. */
interface Backup {
  readonly ledger: string;
  readonly operator: Operator;
  backUp(): void;
  /** Into a new place; its URL. */
  restore(): string;
}

async function onPostgres(): Promise<Backup> {
  const server = await startInstalledPostgres(resources);
  const [ledger, restored] = [server.url("ledger"), server.url("restored")];
  await execute(server.url("postgres"), "create database ledger");
  await migratePostgres(ledger);
  const operator = new Operator(await resources.folder(), [server.bin]);
  const env = { LEDGER: ledger, SERVER: server.url("postgres"), RESTORED: restored };
  const typeAll = (mark: string): void => {
    for (const line of typedAfter(mark)) expect(operator.type(line, env), line).toMatchObject({ code: 0 });
  };
  return {
    ledger,
    operator,
    backUp: () => typeAll("back up"),
    restore: () => {
      typeAll("restore");
      return restored;
    },
  };
}

async function onSqlite(): Promise<Backup> {
  const folder = await resources.folder();
  const [file, copy, restored] = ["ledger.db", "ledger.copy", "restored.db"].map(
    (name) => `${folder}/${name}`,
  );
  return {
    ledger: `sqlite:${file}`,
    operator: new Operator(await resources.folder()),
    backUp: () => {
      const database = new DatabaseSync(file ?? "");
      database.exec(`vacuum into '${copy}'`);
      database.close();
    },
    restore: () => {
      copyFileSync(copy ?? "", restored ?? "");
      return `sqlite:${restored}`;
    },
  };
}

/** A process that hosts the tool; what its body was entered for. */
class PaymentHost {
  readonly engine: Engine;
  readonly entered: string[] = [];
  readonly #pay: GatedFunction<object, string>;
  readonly #slow = Promise.withResolvers<void>();

  private constructor(engine: Engine) {
    this.engine = engine;
    this.#pay = engine.gate(
      "pay",
      { requireConfirmation: true },
      async (_args: object, { idempotencyKey }) => {
        const key = idempotencyKey.split(".").at(-1) ?? "";
        this.entered.push(key);
        if (key === "slow") await this.#slow.promise;
        return `paid ${key}`;
      },
    );
  }

  static async open(ledger: string, { release }: { readonly release: Resources }): Promise<PaymentHost> {
    const host = new PaymentHost(await createEngine({ ledger, ...LEASE }));
    release.add(() => {
      host.letGo();
      return host.engine.close();
    });
    return host;
  }

  letGo(): void {
    this.#slow.resolve();
  }

  /** Asks, and gives the question's id. */
  async ask(key: string): Promise<string> {
    const asked = await this.#pay({}, { key, by: ana });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    return asked.confirmation.id;
  }

  async call(confirmation: string): Promise<CallRecord> {
    const call = (await this.engine.ledger.load({ confirmation }))?.call;
    if (call === undefined) throw new Error(`There is no ${confirmation}.`);
    return call;
  }

  async ended(confirmation: string): Promise<Call> {
    return this.engine.finished((await this.call(confirmation)).id);
  }
}

/** Six calls, each at another place of its life, and two decisions that the backup does not know of. */
async function liveThroughBackup(backup: Backup): Promise<{
  readonly ids: Readonly<Record<(typeof KEYS)[number], string>>;
  readonly heads: { readonly before: string; readonly after: string };
}> {
  const old = await PaymentHost.open(backup.ledger, { release: resources });
  const asked: [string, string][] = [];
  for (const key of KEYS) asked.push([key, await old.ask(key)]);
  const ids = Object.fromEntries(asked) as Record<(typeof KEYS)[number], string>;
  await old.engine.approve(ids.done, { by: ana });
  await old.ended(ids.done);
  await old.engine.deny(ids.denied, { by: ana });
  await old.engine.approve(ids.slow, { by: ana });
  // Decided where nobody hosts the tool: approved, and not begun.
  const decider = await createEngine({ ledger: backup.ledger });
  await decider.approve(ids.ready, { by: ana });
  await decider.close();
  expect(old.entered).toEqual(["done", "slow"]);
  const before = await old.engine.head();
  backup.backUp();
  const worker = old.engine.work();
  await old.engine.approve(ids.later, { by: ana });
  old.letGo();
  for (const id of [ids.ready, ids.slow, ids.later])
    expect(await old.ended(id)).toMatchObject({ status: "succeeded" });
  await worker.stop();
  return { ids, heads: { before, after: await old.engine.head() } };
}

const KEYS = ["done", "denied", "slow", "ready", "later", "waits"] as const;

test.each([
  ["PostgreSQL, with pg_dump and pg_restore", onPostgres],
  ["SQLite, with a copy", onSqlite],
])("a ledger restored on %s runs nothing twice, and says what it does not know", async (_, open) => {
  const backup = await open();
  const { ids, heads } = await liveThroughBackup(backup);
  const RESTORED = backup.restore();
  const { operator } = backup;
  const [restored = ""] = typedAfter("restored");
  const { code, stdout, stderr } = operator.type(restored, { RESTORED });
  expect([code, stderr]).toEqual([0, ""]);
  const said = stdout.replaceAll(/\s+/g, " ");
  expect(said).toContain(`Checked ${KEYS.length} sessions. 1 approved call may have run after the backup`);
  expect(said).toContain("2 open questions may have been answered after the backup");
  const host = await PaymentHost.open(RESTORED, { release: resources });
  const worker = host.engine.work({ sweepMs: 100 });
  resources.add(() => worker.stop());

  expect((await host.ended(ids.slow)).status).toBe("unknown");
  const statuses = await Promise.all(KEYS.map(async (key) => [key, (await host.call(ids[key])).status]));
  expect(Object.fromEntries(statuses)).toEqual({
    done: "succeeded",
    denied: "denied",
    slow: "unknown",
    ready: "unknown",
    later: "waiting",
    waits: "waiting",
  });
  expect(await tryApprove(host.engine, ids.done, { by: ana })).toMatchObject({ ok: true });
  expect(await tryApprove(host.engine, ids.denied, { by: ana })).toMatchObject({ code: "already-decided" });
  const asked = await host.engine.ledger.load({ confirmation: ids.waits });
  expect(asked?.confirmation?.shown.why.at(-1)).toContain("restored from a backup");
  const { version } = await host.engine.confirmation(ids.waits);
  await host.engine.approve(ids.waits, { by: ana, version });
  expect(await host.ended(ids.waits)).toMatchObject({ status: "succeeded", result: "paid waits" });
  await host.engine.decisions.settle(
    { confirmation: ids.ready },
    { as: "succeeded", result: "paid" },
    { by: ana },
  );
  expect(host.entered).toEqual(["waits"]);

  const [verify = ""] = typedAfter("verify a head");
  expect(operator.type(verify, { RESTORED, HEAD: heads.before })).toMatchObject({ code: 0 });
  const cut = operator.type(verify, { RESTORED, HEAD: heads.after });
  expect(cut).toMatchObject({ code: 1, stdout: expect.stringContaining("is NOT intact") as unknown });
  expect(await host.engine.verify()).toMatchObject({ ok: true });
});
