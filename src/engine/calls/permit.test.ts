import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { editCall } from "../../../test/support/ledger/edit-document.ts";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import { isPermitted, permitFor } from "./permit.ts";

const call = { id: "s.a", tool: "pay", argsDigest: "d" };

test("a permit is good for the call it was made for, and for no other", () => {
  const permit = permitFor({ secret: "s" }, call);
  expect(isPermitted({ secret: "s" }, { ...call, permit })).toBe(true);
  expect(isPermitted({ secret: "other" }, { ...call, permit })).toBe(false);
  expect(isPermitted({ secret: "s" }, call)).toBe(false);
  for (const altered of [{ id: "s.b" }, { tool: "delete" }, { argsDigest: "e" }]) {
    expect(isPermitted({ secret: "s" }, { ...call, ...altered, permit })).toBe(false);
  }
});

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-permit-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

test.each([undefined, "s"])(
  "a call whose question somebody struck from the database is not run (secret %s)",
  async (secret) => {
    const path = join(folder, "ledger.db");
    const ledger = await createLedger(`sqlite:${path}`);
    const engine = new Engine({ ledger, ...(secret === undefined ? {} : { secret }) });
    let runs = 0;
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
      runs += 1;
      return runs;
    });
    const asked = await pay({}, { key: "k", by: { id: "ana" } });
    if (asked.status !== "pending") throw new Error(asked.status);
    const { call: open } = (await ledger.load({ confirmation: asked.confirmation.id })) ?? {};
    const database = new DatabaseSync(path);
    editCall(database, open?.id ?? "", { status: "ready", confirmation: null, rounds: 0 });
    database.close();
    await engine.work({ once: true });
    expect(runs).toBe(0);
    expect(await pay({}, { key: "k", by: { id: "ana" } })).toMatchObject({ status: "cancelled" });
    await engine.close();
  },
);
