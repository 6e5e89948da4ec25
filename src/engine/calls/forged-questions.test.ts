import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { editAnswers, editCall, editConfirmation } from "../../../test/support/ledger/edit-document.ts";
import type { ToolConfirmation } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

let folder: string;
let path: string;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-denial-"));
  path = join(folder, "ledger.db");
  ledger = await createLedger(`sqlite:${path}`);
  engine = new Engine({ ledger, secret: "s" });
});

afterEach(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

/** What somebody does who can write to the database, and does not know the secret. */
async function forge(id: string, edit: (database: DatabaseSync, call: string) => void): Promise<void> {
  const { call } = (await ledger.load({ confirmation: id })) ?? {};
  const database = new DatabaseSync(path);
  edit(database, call?.id ?? "");
  database.close();
}

test.each(["denied", "expired"])(
  "a call that somebody marks as %s in the database does not run to word that",
  async (status) => {
    let runs = 0;
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
      runs += 1;
      return runs;
    });
    const asked = await pay({}, { key: "k", by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(asked.status);
    const { confirmation } = (await ledger.load({ confirmation: asked.confirmation.id })) ?? {};
    await forge(asked.confirmation.id, (database, call) => {
      editConfirmation(database, asked.confirmation.id, {
        status,
        shown: { ...confirmation?.shown, onDenied: "invoke" },
      });
      editCall(database, call, { status: "ready", refused: true });
    });
    await engine.work({ once: true });
    expect(runs).toBe(0);
  },
);

/** A question of a function that pays when it is approved, and what the function is told. */
async function askInside(): Promise<{
  readonly id: string;
  readonly shown: object;
  readonly told: (ToolConfirmation | undefined)[];
}> {
  const told: (ToolConfirmation | undefined)[] = [];
  const pay = engine.gate("pay", {}, async (_args, { toolConfirmation, requestConfirmation }) => {
    if (toolConfirmation === undefined) requestConfirmation({ hint: "Pay $5?" });
    else told.push(toolConfirmation);
    return "paid";
  });
  const asked = await pay({}, { key: "k", by: { id: "ana" } });
  if (asked.status !== "pending") throw new Error(asked.status);
  const { id } = asked.confirmation;
  const { confirmation } = (await ledger.load({ confirmation: id })) ?? {};
  return { id, shown: confirmation?.shown ?? {}, told };
}

test.each<[string, object]>([
  [
    "another decision to start with",
    { question: "q", startedWith: { hint: "", confirmed: true, payload: 9 } },
  ],
  ["another hint", { hint: "Nothing happens." }],
  ["another payload", { payload: { amount: 1 } }],
  ["another schema", { schema: { type: "object" } }],
  ["that it goes on after a denial", { onDenied: "invoke" }],
])("a function's own question into which somebody writes %s cannot be approved", async (_, change) => {
  const { id, shown, told } = await askInside();
  await forge(id, (database) => editConfirmation(database, id, { shown: { ...shown, ...change } }));
  const decision = { id, confirmed: true, payload: { amount: 1 } };
  const [result] = await engine.decide([decision], { by: { id: "ana" } });
  expect(result).toMatchObject({ ok: false, code: "signature-invalid" });
  await engine.work({ once: true });
  expect(told).toEqual([]);
});

test("a function's own question that nobody changed is approved, however long it is", async () => {
  const payload = { text: "é".repeat(100_000) };
  const pay = engine.gate("pay", { onDenied: "invoke" }, async (_args, { confirm }) => {
    const first = await confirm("first", { hint: "Pay?", payload });
    return { paid: first.payload ?? null };
  });
  const asked = await pay({}, { key: "k", by: { id: "ana" } });
  if (asked.status !== "pending") throw new Error(asked.status);
  const approved = await tryApprove(engine, asked.confirmation.id, { by: { id: "ana" } });
  if (approved.ok) await approved.finished;
  expect(await pay({}, { key: "k", by: { id: "ana" } })).toMatchObject({ status: "succeeded" });
});

test.each(["gate", "first"])(
  "the approval of another question of the call (%s) does not answer a later one",
  async (other) => {
    let paid = 0;
    const pay = engine.gate("pay", { requireConfirmation: true }, async (_args, { confirm }) => {
      await confirm("first");
      await confirm("second");
      paid += 1;
      return paid;
    });
    const ids = new Map<string, string>();
    for (const name of ["gate", "first", "second"]) {
      const id = await vi.waitFor(async () => {
        const asked = await pay({}, { key: "k", by: { id: "ana" } });
        const open = asked.status === "pending" ? asked.confirmation.id : "";
        expect(["", ...ids.values()]).not.toContain(open);
        return open;
      });
      ids.set(name, id);
      if (name !== "second") await tryApprove(engine, id, { by: { id: "ana" } });
    }
    const approvedId = ids.get(other) ?? "";
    await forge(approvedId, (database, call) => {
      editAnswers(database, call, { second: approvedId });
      editCall(database, call, { status: "ready", confirmation: approvedId });
    });
    await engine.work({ once: true });
    expect(paid).toBe(0);
  },
);
