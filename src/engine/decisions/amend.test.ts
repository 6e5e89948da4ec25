import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ANA,
  type AskInput,
  type EngineFixture,
  MANAGER,
  openEngineFixture,
  person,
} from "../../../test/attack/support/engine-fixture.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { readShape } from "../common/schema/schema.ts";
import type { LiveTool } from "../host.ts";
import { oneApproval } from "../people/index.ts";
import { toConfirmation } from "../questions/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

const PAYMENT = z.object({
  amount: z.coerce.number().positive(),
  to: z.string(),
  note: z.string().default("-"),
});
const shape = readShape(PAYMENT);
const ARGS = { amount: 5, to: "bob", note: "-" };

/** Gated again as a runtime would: parsed, and more than 100 needs a manager; more than 1000 nobody may. */
const tool: Partial<LiveTool> = {
  amend: async (_about, args) => {
    const parsed = await shape.parse(args);
    if (!parsed.ok) return { ...parsed, code: "arguments-mismatch" };
    const amount = Number(parsed.args["amount"]);
    if (amount > 1000) return { ok: false, code: "policy-denied", message: "More than 1000 is never paid." };
    return {
      ok: true,
      args: parsed.args,
      requirements: oneApproval(amount > 100 ? { roles: ["manager"] } : "requester"),
      shown: { hint: "Pay?", why: ["test"] },
    };
  },
};

async function openPayment(shown: NonNullable<AskInput["question"]>["shown"], secret?: string) {
  const fixture = await openEngineFixture(secret === undefined ? {} : { secret });
  fixture.app.define("pay", tool);
  const asked = await fixture.ask({ tool: "pay", args: ARGS, question: { shown: shown ?? {} } });
  return { fixture, ...asked };
}

async function expectOpen(fixture: EngineFixture, { id }: { readonly id: string }) {
  expect(await fixture.confirmation(id)).toMatchObject({ status: "requested", votes: [] });
  expect(fixture.app.runs).toEqual([]);
}

describe("arguments that an approver changed", () => {
  test("run instead; both versions are kept, and the approval is bound to the new ones", async () => {
    const { fixture, confirmation, call } = await openPayment({ amendable: ["amount"] }, "a secret");
    const args = { ...ARGS, amount: 3 };
    const approved = await tryApprove(fixture.engine, confirmation.id, { by: ANA, args });
    expect(approved).toMatchObject({ ok: true, call: { args, originalArgs: ARGS } });
    await fixture.engine.finished(call.id);
    const ended = await fixture.call(call.id);
    expect(fixture.app.runs).toMatchObject([{ args, key: call.id }]);
    expect(ended).toMatchObject({ status: "succeeded", args, originalArgs: ARGS });
    const decided = await fixture.confirmation(confirmation.id);
    expect(decided.votes).toMatchObject([{ confirmed: true, args }]);
    expect(decided.argsDigest).toBe(ended.argsDigest);
    expect(decided.argsDigest).not.toBe(call.argsDigest);
    const told = (await fixture.journal()).find(({ kind }) => kind === "confirmation-approved");
    expect(told?.body).toMatchObject({ amended: { fields: ["amount"], args } });
    expect(toConfirmation({ confirmation: decided, call: ended, session: { id: "s" } })).toMatchObject({
      args,
      originalArgs: ARGS,
      decision: { by: { id: "ana" }, args },
    });
    expect(
      (await fixture.journal()).find(({ kind }) => kind === "confirmation-approved")?.body,
    ).toMatchObject({
      argsDigest: ended.argsDigest,
    });
  });

  test("are parsed as the model's were: defaults and coercions are bound", async () => {
    const { fixture, confirmation, call } = await openPayment({ amendable: true });
    await fixture.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ args: { amount: 7, to: "eve", note: "-" } }]);
  });

  test("run elsewhere under the same key, signed for the new digest", async () => {
    const { fixture, confirmation, call } = await openPayment({ amendable: true }, "a secret");
    const body = Promise.withResolvers<never>();
    fixture.app.define("pay", { ...tool, run: () => body.promise });
    await fixture.engine.approve(confirmation.id, { by: ANA, args: { ...ARGS, amount: 3 } });
    const { OutcomeUnknown } = await import("../calls/call-context.ts");
    body.reject(new OutcomeUnknown("the line went dead"));
    await fixture.engine.finished(call.id);
    fixture.app.define("pay", tool);
    expect(
      await fixture.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA }),
    ).toMatchObject({
      ok: true,
    });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([
      { args: { ...ARGS, amount: 3 }, key: call.id, attempt: 1 },
      { args: { ...ARGS, amount: 3 }, key: call.id, attempt: 2 },
    ]);
  });

  test("that are the same arguments change nothing, amendable or not", async () => {
    const { fixture, confirmation, call } = await openPayment({});
    const approved = await tryApprove(fixture.engine, confirmation.id, {
      by: ANA,
      args: { note: "-", to: "bob", amount: 5 },
    });
    expect(approved).toMatchObject({ ok: true });
    expect(await fixture.engine.finished(call.id)).not.toHaveProperty("originalArgs");
    expect((await fixture.confirmation(confirmation.id)).votes[0]).not.toHaveProperty("args");
  });
});

describe("are refused, and the question stays open", () => {
  test.each<[string, true | readonly string[] | undefined, unknown, string]>([
    ["the tool allows no changes", undefined, { ...ARGS, amount: 3 }, "amount"],
    ["no field may change", [], { ...ARGS, amount: 3 }, "amount"],
    ["another field may change", ["note"], { ...ARGS, amount: 3 }, "amount"],
    ["a fixed field goes along", ["amount"], { ...ARGS, amount: 3, to: "eve" }, "to"],
    ["a fixed field is left out", ["amount"], { amount: 3, note: "-" }, "to"],
    ["a new field appears", ["amount"], { ...ARGS, cc: "eve" }, "cc"],
    [
      "a field called __proto__ appears",
      ["amount"],
      JSON.parse('{"amount":3,"to":"bob","note":"-","__proto__":{}}'),
      "__proto__",
    ],
    ["a field called constructor appears", ["amount"], { ...ARGS, constructor: 1 }, "constructor"],
    ["a field called toString appears", ["amount"], { ...ARGS, toString: {} }, "toString"],
    ["a list stands for the arguments", true, [1], "(all)"],
    ["a text stands for the arguments", true, "all of it", "(all)"],
  ])("%s", async (_, amendable, args, field) => {
    const { fixture, confirmation } = await openPayment(amendable === undefined ? {} : { amendable });
    const journal = await fixture.journal();
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA, args: args as JsonObject });
    expect(refused).toMatchObject({ ok: false, code: "arguments-mismatch", field });
    expect(await fixture.journal()).toEqual(journal);
    await expectOpen(fixture, confirmation);
  });

  test.each<[string, JsonObject, string, string | undefined]>([
    ["they do not fit the schema", { ...ARGS, amount: -1 }, "arguments-mismatch", "amount"],
    ["a rule forbids them", { ...ARGS, amount: 5000 }, "policy-denied", undefined],
  ])("gated again: %s", async (_, args, code, field) => {
    const { fixture, confirmation } = await openPayment({ amendable: true });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: MANAGER, args });
    expect(refused).toMatchObject({ code: "not-an-approver" });
    const byAna = await tryApprove(fixture.engine, confirmation.id, { by: ANA, args });
    expect(byAna).toMatchObject({ ok: false, code, ...(field === undefined ? {} : { field }) });
    await expectOpen(fixture, confirmation);
  });

  test("the approver is none for the new ones; that is audited", async () => {
    const { fixture, confirmation } = await openPayment({ amendable: true });
    const refused = await tryApprove(fixture.engine, confirmation.id, {
      by: ANA,
      args: { ...ARGS, amount: 500 },
    });
    expect(refused).toMatchObject({ ok: false, code: "not-an-approver" });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "decision-refused",
      body: { code: "not-an-approver", by: { id: "ana" } },
    });
    await expectOpen(fixture, confirmation);
    const boss = { ...person("ana"), roles: ["manager"] };
    const approved = await tryApprove(fixture.engine, confirmation.id, {
      by: boss,
      args: { ...ARGS, amount: 500 },
    });
    expect(approved).toMatchObject({ ok: true });
  });

  test("the tool is not served here, so nobody can judge them", async () => {
    const fixture = await openEngineFixture({ hosts: false });
    const { confirmation } = await fixture.ask({
      tool: "pay",
      args: ARGS,
      question: { shown: { amendable: true } },
    });
    const refused = await tryApprove(fixture.engine, confirmation.id, {
      by: ANA,
      args: { ...ARGS, amount: 3 },
    });
    expect(refused).toMatchObject({ ok: false, code: "arguments-mismatch" });
    await expectOpen(fixture, confirmation);
  });
});

describe("again", () => {
  test.each<[string, JsonObject]>([
    ["as sent", { amount: "7", to: "eve" }],
    ["as they ran", { amount: 7, to: "eve", note: "-" }],
  ])("the same amendment, %s, is the same decision", async (_, again) => {
    const { fixture, confirmation } = await openPayment({ amendable: true });
    await fixture.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA, args: again })).toMatchObject({
      ok: true,
      repeated: true,
    });
    expect(fixture.app.runs).toHaveLength(1);
  });

  test.each<[string, JsonObject | undefined]>([
    ["other arguments", { amount: 8, to: "eve" }],
    ["the original arguments", ARGS],
    ["none", undefined],
  ])("%s are another decision", async (_, again) => {
    const { fixture, confirmation } = await openPayment({ amendable: true });
    await fixture.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    const refused = await tryApprove(fixture.engine, confirmation.id, {
      by: ANA,
      ...(again === undefined ? {} : { args: again }),
    });
    expect(refused).toMatchObject({ ok: false, code: "already-decided" });
  });

  test("the shown arguments sent back as a payload beside an amendment are no payload, both times", async () => {
    const { fixture, confirmation, call } = await openPayment({ amendable: true, payload: { days: 0 } });
    const decision = { by: ANA, args: { ...ARGS, amount: 3 }, payload: ARGS };
    await fixture.engine.approve(confirmation.id, decision);
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ args: { amount: 3 }, payload: { days: 0 } }]);
    expect(await tryApprove(fixture.engine, confirmation.id, decision)).toMatchObject({
      ok: true,
      repeated: true,
    });
  });
});

test("a gated function: amended by its approver, and its key still belongs to the first arguments", async () => {
  const fixture = await openEngineFixture();
  const paid: number[] = [];
  const pay = fixture.engine.gate(
    "pay",
    { parameters: PAYMENT, requireConfirmation: true, amendable: ["amount"] },
    async ({ amount }) => paid.push(amount),
  );
  const input = { amount: 5, to: "bob", note: "-" };
  const opened = await pay(input, { key: "order-17", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const approved = await tryApprove(fixture.engine, opened.confirmation.id, {
    by: ANA,
    args: { ...input, amount: 4 },
  });
  if (approved.ok) await approved.finished;
  expect(paid).toEqual([4]);
  expect(await pay(input, { key: "order-17", by: ANA })).toMatchObject({ status: "succeeded" });
  await expect(pay({ ...input, amount: 4 }, { key: "order-17", by: ANA })).rejects.toMatchObject({
    code: "key-reused",
  });
});

test("a gated function: the secret of a row that was taken out is not given to the next", async () => {
  const fixture = await openEngineFixture();
  const paid: unknown[] = [];
  const pay = fixture.engine.gate<{ rows: readonly JsonObject[] }, string>(
    "pay",
    { requireConfirmation: true, amendable: true, secrets: ["/rows/*/pin"] },
    async ({ rows }) => {
      paid.push(...rows);
      return "paid";
    },
  );
  const rows = [
    { to: "alice", pin: "A" },
    { to: "bob", pin: "B" },
  ];
  const opened = await pay({ rows }, { key: "order-18", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const approve = (pin: string) =>
    tryApprove(fixture.engine, opened.confirmation.id, { by: ANA, args: { rows: [{ to: "bob", pin }] } });
  expect(await approve("[redacted]")).toMatchObject({ code: "arguments-mismatch", field: "rows.0.pin" });
  expect(paid).toEqual([]);
  const approved = await approve("B");
  if (approved.ok) await approved.finished;
  expect(paid).toEqual([{ to: "bob", pin: "B" }]);
  expect(await approve("B")).toMatchObject({ ok: true, repeated: true });
  expect(await approve("[redacted]")).toMatchObject({ ok: false, code: "already-decided" });
});

test("a gated function: what was shown and left alone runs as it was shown, or the change is refused", async () => {
  const fixture = await openEngineFixture();
  const parameters = z.object({ amount: z.number().transform((dollars) => dollars * 100), note: z.string() });
  const pay = fixture.engine.gate(
    "pay",
    { parameters, requireConfirmation: true, amendable: ["note"] },
    async () => 1,
  );
  const opened = await pay({ amount: 5, note: "a" }, { key: "order-19", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const args = { amount: 500, note: "b" };
  expect(opened.confirmation.args).toEqual({ ...args, note: "a" });
  expect(await tryApprove(fixture.engine, opened.confirmation.id, { by: ANA, args })).toMatchObject({
    code: "arguments-mismatch",
    field: "amount",
  });
});
