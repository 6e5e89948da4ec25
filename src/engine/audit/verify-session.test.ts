import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../index.ts";

const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) await release();
});

async function open(secret?: string) {
  const folder = mkdtempSync(join(tmpdir(), "countersign-verify-"));
  releases.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "ledger.db");
  const engine = new Engine({
    ledger: await createLedger(`sqlite:${path}`),
    ...(secret === undefined ? {} : { secret }),
  });
  releases.push(() => engine.close());
  const refund = engine.gate("refund", { requireConfirmation: true }, async () => "sent");
  const ask = async (key: string): Promise<string> => {
    const outcome = await refund({}, { key, by: { id: "ana" } });
    if (outcome.status !== "pending") throw new Error(`it is ${outcome.status}`);
    await engine.approve(outcome.confirmation.id, { by: { id: "boss" } });
    const found = await engine.ledger.load({ confirmation: outcome.confirmation.id });
    return found?.session.key ?? "";
  };
  const tamper = (sql: string): void => {
    const shell = new DatabaseSync(path);
    shell.exec(sql);
    shell.close();
  };
  return { engine, ask, tamper };
}

async function limitsOf(secret?: string): Promise<readonly string[]> {
  const { engine, ask } = await open(secret);
  return (await engine.verifySession(await ask("one"))).cannotDetect;
}

const IS_OTHER = "update log set body = replace(body, 'boss', 'ana!')";

test.each([
  ["a changed record", IS_OTHER],
  ["a record that is missing from the middle", "delete from log where n = 2"],
  [
    "the last record missing",
    "delete from log where n = (select max(n) from log l where l.session = log.session)",
  ],
  ["a body that was emptied", "update log set body = null where n = 1"],
])("%s is found in its session, and not in another", async (_, sql) => {
  const { engine, ask, tamper } = await open("a secret of this test");
  const [one, two] = [await ask("one"), await ask("two")];
  expect(await engine.verifySession(one)).toMatchObject({ ok: true });
  tamper(`${sql}${sql.includes(" where ") ? " and" : " where"} session = '${one}'`);
  expect(await engine.verifySession(one)).toMatchObject({ ok: false });
  expect(await engine.verifySession(two)).toMatchObject({ ok: true });
});

test("it says what it cannot find: with a secret less than without", async () => {
  expect(await limitsOf("a secret of this test")).toEqual([expect.stringContaining("newest records")]);
  expect(await limitsOf()).toEqual([
    expect.stringContaining("COUNTERSIGN_SECRET"),
    expect.stringContaining("newest records"),
  ]);
});
