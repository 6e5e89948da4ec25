import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabaseFile, type DatabaseFile } from "../../../test/attack/support/database.ts";
import {
  ANA,
  type EngineFixture,
  type EngineFixtureOptions,
  openEngineFixture,
} from "../../../test/attack/support/engine-fixture.ts";
import { valueDigest } from "../common/digest.ts";
import type { ConfirmationRecord } from "../ledger/index.ts";
import type { AskedCall } from "../questions/ask.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";

const SECRET = "correct horse battery staple";

/** A call approved by a front that hosts nothing, so that it lies ready in the file, and a back that may run it. */
interface Approved extends AskedCall {
  readonly file: DatabaseFile;
  readonly front: EngineFixture;
  readonly back: EngineFixture;
  /** A second call of the same session, still open, with the same tool and arguments. */
  readonly twin: AskedCall;
}

function createFile(): DatabaseFile {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  return file;
}

async function approveElsewhere(options: EngineFixtureOptions = {}): Promise<Approved> {
  const file = createFile();
  const front = await openEngineFixture({ ...options, url: file.url, hosts: false });
  const pay = { tool: "pay", args: { amount: 5 } };
  const [asked, twin] = await front.askAll([pay, pay]);
  const approved = await tryApprove(front.engine, asked!.confirmation.id, { by: ANA });
  expect(approved).toMatchObject({ ok: true, call: { status: "ready" } });
  const back = await openEngineFixture({ ...options, url: file.url, clock: front.clock });
  return { ...asked!, file, front, back, twin: twin! };
}

async function expectNotRun({ back, call }: Approved, reason: string) {
  await back.engine.work({ once: true });
  expect(back.app.runs).toEqual([]);
  expect(await back.call(call.id)).toMatchObject({
    status: "cancelled",
    attempt: 0,
    result: { error: "tool call was withdrawn before it ran", reason },
  });
  expect((await back.journal()).at(-1)).toMatchObject({ body: { call: call.id, reason } });
  await back.engine.work({ once: true });
  expect(back.app.runs).toEqual([]);
}

test("untouched, it runs: what follows is refused for what was done to it, and for nothing else", async () => {
  const { back, call } = await approveElsewhere({ secret: SECRET });
  await back.engine.work({ once: true });
  expect(back.app.runs).toEqual([{ tool: "pay", args: { amount: 5 }, key: call.id, attempt: 1 }]);
});

describe("approved, then altered in the database: not run, withdrawn and journaled", () => {
  test("the arguments", async () => {
    const approved = await approveElsewhere();
    const { file, call, back, confirmation } = approved;
    file.editCall(call.id, { args: { amount: 5000 } });
    await expectNotRun(approved, "the stored arguments differ from those that were shown");
    expect(await back.confirmation(confirmation.id)).toMatchObject({
      status: "cancelled",
      withdrawal: expect.stringContaining("arguments") as string,
    });
  });

  test("the arguments and their digest", async () => {
    const approved = await approveElsewhere();
    const { file, call, back } = approved;
    const digest = valueDigest(back.ledger.digestKey, { amount: 5000 });
    file.editCall(call.id, { args: { amount: 5000 }, argsDigest: digest });
    await expectNotRun(approved, "the approval belongs to a different call or different arguments");
  });

  test("the arguments and every digest, where approvals are signed", async () => {
    const approved = await approveElsewhere({ secret: SECRET });
    const { file, call, confirmation, back } = approved;
    const digest = valueDigest(back.ledger.digestKey, { amount: 5000 });
    file.editCall(call.id, { args: { amount: 5000 }, argsDigest: digest });
    file.editConfirmation(confirmation.id, { argsDigest: digest });
    await expectNotRun(approved, "the stored approval has no valid signature");
  });

  test("the tool", async () => {
    const approved = await approveElsewhere();
    approved.file.editCall(approved.call.id, { tool: "wipe" });
    await expectNotRun(approved, "the approval belongs to a different call or different arguments");
  });

  test("the tool, on the confirmation too, where approvals are signed", async () => {
    const approved = await approveElsewhere({ secret: SECRET });
    const { file, call, confirmation } = approved;
    file.editCall(call.id, { tool: "wipe" });
    file.editConfirmation(confirmation.id, { tool: "wipe" });
    await expectNotRun(approved, "the stored approval has no valid signature");
  });

  test("the definition that was shown, where approvals are signed", async () => {
    const approved = await approveElsewhere({ secret: SECRET });
    approved.back.app.define("pay", { definitionDigest: "v1:rewritten" });
    approved.file.editCall(approved.call.id, { definitionDigest: "v1:rewritten" });
    await expectNotRun(approved, "the stored approval has no valid signature");
  });

  test("its confirmation: none", async () => {
    const approved = await approveElsewhere();
    const { file, call } = approved;
    file.editCall(call.id, { confirmation: null });
    await expectNotRun(approved, "the call is ready without an approval");
  });

  test("its confirmation: the row is gone", async () => {
    const approved = await approveElsewhere();
    const { file, call, confirmation, back } = approved;
    file.editConfirmation(confirmation.id, "gone");
    await back.engine.work({ once: true });
    expect(back.app.runs).toEqual([]);
    expect(await back.call(call.id)).toMatchObject({ status: "cancelled" });
  });

  test("its confirmation: another session's", async () => {
    const approved = await approveElsewhere();
    const { file, confirmation } = approved;
    file.editConfirmation(confirmation.id, { session: "elsewhere" });
    await expectNotRun(approved, "the approval belongs to a different call or different arguments");
  });

  test("its confirmation: open again", async () => {
    const approved = await approveElsewhere();
    const { file, confirmation } = approved;
    file.editConfirmation(confirmation.id, { status: "requested", votes: [] });
    await expectNotRun(approved, "the call is ready without an approval");
  });

  test("its vote: a denial", async () => {
    const approved = await approveElsewhere();
    const { file, confirmation } = approved;
    const [vote] = (await approved.back.confirmation(confirmation.id)).votes;
    file.editConfirmation(confirmation.id, { votes: [{ ...vote, confirmed: false }] });
    await expectNotRun(approved, "the call is ready without an approval");
  });
});

describe("never approved, but made to look so", () => {
  test("a call set to ready while its question is open", async () => {
    const { file, back, twin } = await approveElsewhere();
    file.editCall(twin.call.id, { status: "ready" });
    await back.engine.work({ once: true });
    expect(back.app.runs.filter(({ key }) => key === twin.call.id)).toEqual([]);
    expect(await back.call(twin.call.id)).toMatchObject({ status: "cancelled" });
  });

  test("a call said to word its own denial", async () => {
    const { file, back, twin } = await approveElsewhere();
    file.editCall(twin.call.id, { status: "ready", refused: true });
    await back.engine.work({ once: true });
    expect(back.app.runs.filter(({ key }) => key === twin.call.id)).toEqual([]);
  });

  test.each<[string, (confirmation: ConfirmationRecord) => object]>([
    ["without a signature", () => ({})],
    ["with an empty one", () => ({ mac: "" })],
    ["with a made-up one", () => ({ mac: "A".repeat(43) })],
    ["with that of another approval", ({ votes }) => ({ mac: votes[0]?.mac })],
  ])("an approval forged in the database %s, where approvals are signed", async (_, forge) => {
    const { file, back, twin, confirmation } = await approveElsewhere({ secret: SECRET });
    const genuine = await back.confirmation(confirmation.id);
    const { mac: _mac, ...vote } = genuine.votes[0]!;
    const votes = [{ ...vote, ...forge(genuine) }];
    file.editConfirmation(twin.confirmation.id, { status: "approved", votes });
    file.editCall(twin.call.id, { status: "ready" });
    await back.engine.work({ once: true });
    expect(back.app.runs.map(({ key }) => key)).not.toContain(twin.call.id);
    expect(await back.call(twin.call.id)).toMatchObject({
      status: "cancelled",
      result: { reason: "the stored approval has no valid signature" },
    });
    expect(await back.confirmation(twin.confirmation.id)).toMatchObject({ status: "cancelled" });
    expect((await back.journal()).filter(({ kind }) => kind === "confirmation-cancelled")).toHaveLength(1);
  });

  test("a later question of a call, behind the genuine approval of an earlier one, where approvals are signed", async () => {
    const file = createFile();
    const fixture = await openEngineFixture({ url: file.url, secret: SECRET });
    const reached: string[] = [];
    fixture.app.define("pay", {
      run: async (_call, { confirm }) => {
        await confirm("manager");
        reached.push("manager");
        await confirm("director");
        reached.push("director");
        return null;
      },
    });
    const { call, confirmation } = await fixture.ask({ tool: "pay" });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    await fixture.engine.work({ once: true });
    const { confirmation: manager = "" } = await fixture.call(call.id);
    await fixture.engine.approve(manager, { by: ANA });
    await fixture.engine.work({ once: true });
    const { confirmation: director = "" } = await fixture.call(call.id);
    const { votes } = await fixture.confirmation(manager);
    file.editConfirmation(director, { status: "approved", votes });
    file.editCall(call.id, { status: "ready", confirmation: manager });
    await fixture.engine.work({ once: true });
    expect(reached).not.toContain("director");
    expect(await fixture.call(call.id)).toMatchObject({
      status: "failed",
      result: { error: 'The stored answer to "director" is not genuine.' },
    });
  });

  test("a call pointed at the approval of another one with the same arguments", async () => {
    const { file, back, twin, confirmation, call } = await approveElsewhere();
    file.editCall(twin.call.id, { status: "ready", confirmation: confirmation.id });
    await back.engine.work({ once: true });
    expect(back.app.runs.map(({ key }) => key)).not.toContain(twin.call.id);
    expect(back.app.runs.length).toBeLessThanOrEqual(1);
    expect(call.id).not.toBe(twin.call.id);
  });

  test("an approval moved from one call to another with the same arguments, where approvals are signed", async () => {
    const { file, back, twin, confirmation, call } = await approveElsewhere({ secret: SECRET });
    await back.engine.work({ once: true });
    expect(back.app.runs.map(({ key }) => key)).toEqual([call.id]);
    file.editConfirmation(confirmation.id, { call: twin.call.id });
    file.editCall(twin.call.id, { status: "ready", confirmation: confirmation.id });
    await back.engine.work({ once: true });
    expect(back.app.runs.map(({ key }) => key)).toEqual([call.id]);
  });
});

async function openQuestion() {
  const file = createFile();
  const fixture = await openEngineFixture({ url: file.url });
  const pay = { tool: "pay", args: { amount: 5 } };
  const [asked, twin] = await fixture.askAll([pay, pay]);
  const foreign = await fixture.ask(pay, "bob");
  return { file, fixture, ...asked!, twin: twin!, foreign };
}
type Opened = Awaited<ReturnType<typeof openQuestion>>;

describe("altered while the question is open: the approval is refused with its code, audited, and nothing runs", () => {
  test.each<[string, (opened: Opened) => void]>([
    ["the arguments", ({ file, call }) => file.editCall(call.id, { args: {} })],
    [
      "the arguments and their digest",
      ({ file, call, fixture }) => {
        const digest = valueDigest(fixture.ledger.digestKey, { amount: 5000 });
        file.editCall(call.id, { args: { amount: 5000 }, argsDigest: digest });
      },
    ],
    ["the call's digest", ({ file, call }) => file.editCall(call.id, { argsDigest: "x" })],
    ["the tool", ({ file, call }) => file.editCall(call.id, { tool: "wipe" })],
    [
      "the question, to point at another call with the same arguments",
      ({ file, confirmation, twin }) => file.editConfirmation(confirmation.id, { call: twin.call.id }),
    ],
    [
      "the question, to point at a call of another session",
      ({ file, confirmation, foreign }) => file.editConfirmation(confirmation.id, { call: foreign.call.id }),
    ],
  ])("%s", async (_, alter) => {
    const opened = await openQuestion();
    const { fixture, confirmation } = opened;
    alter(opened);
    const before = opened.file.dump({ withoutVersions: true });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA, via: "http" });
    expect(refused).toMatchObject({ ok: false, code: "arguments-altered" });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "decision-refused",
      body: { confirmation: confirmation.id, code: "arguments-altered", by: { id: "ana" }, via: "http" },
    });
    expect(fixture.app.runs).toEqual([]);
    const { owners: _owners, ...rest } = opened.file.dump({ withoutVersions: true });
    const { owners: _earlier, ...expected } = before;
    expect(rest).toEqual(expected);
  });

  test("it can still be denied", async () => {
    const { fixture, file, confirmation, call } = await openQuestion();
    file.editCall(call.id, { args: {} });
    expect(await tryDeny(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ ok: true });
  });
});
