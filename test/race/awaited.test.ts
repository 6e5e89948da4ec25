import { expect, test } from "vitest";
import { createLedger, Engine } from "../../src/index.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { Child } from "../support/processes/child.ts";
import { useResources } from "../support/resources.ts";
import type { Awaited } from "./awaited.program.ts";
import { onPostgres } from "./race.ts";

const resources = useResources();
const PROGRAM = new URL("awaited.program.ts", import.meta.url);

async function open(): Promise<string> {
  return onPostgres ? createDatabase(resources) : `sqlite:${await resources.folder()}/ledger.db`;
}

/** A question that somebody has to answer, in a ledger that nobody has open. */
async function ask(url: string): Promise<string> {
  const engine = new Engine({ ledger: await createLedger(url) });
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
  const outcome = await pay({}, { key: "k", by: { id: "ana" } });
  await engine.close();
  return outcome.status === "pending" ? outcome.confirmation.id : "";
}

async function runs(awaited: Awaited, url: string): Promise<unknown> {
  const child = new Child(PROGRAM, {
    args: [JSON.stringify({ awaited, url, confirmation: await ask(url) })],
  });
  resources.add(() => child.kill());
  const said: string[] = [];
  child.onLine(({ type }) => said.push(type));
  const { code } = await child.ended;
  return { said, code, complaints: child.complaints };
}

test.each([
  { awaited: "decision", said: "approved", what: "a decision while others commit" },
  { awaited: "answer", said: "Hello.", what: "a model's answer" },
  { awaited: "store", said: "succeeded", what: "a result that the ledger refuses at first" },
] as const)("a process that awaits $what lives until it has it", async ({ awaited, said }) => {
  expect(await runs(awaited, await open())).toEqual({ said: [said], code: 0, complaints: "" });
});
