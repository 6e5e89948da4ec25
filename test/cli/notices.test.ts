import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { storeNotice } from "../support/ledger/store-notice.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";
import { askToPay, untilWritten, writePayer } from "./payer.ts";

const DETAILS = { session: "s1", calls: ["c1"], tool: "wipe\u001b[2J" };

async function record(folder: Folder): Promise<string> {
  return folder.withEngine(async ({ ledger }) => storeNotice(ledger.items, { details: DETAILS }));
}

function found(folder: Folder): readonly { readonly about: string }[] {
  const { findings } = folder.json(["doctor"]) as { findings: readonly { readonly about: string }[] };
  return findings.filter(({ about }) => about === "notices");
}

test("lists what was lost: when, who noticed, about what", async () => {
  const folder = makeFolder();
  const id = await record(folder);
  const { code, stdout } = folder.run(["notices", "list"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`${id}  lost-commits`);
  expect(stdout).toMatch(/20\d\d-.*, reported by process 7 on one/);
  expect(stdout).toContain("the ledger lost a commit");
  expect(stdout).toContain('"calls":["c1"]');
  expect(stdout).not.toContain("\u001b[2J");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(folder.json(["notices", "list"])).toMatchObject({ items: [{ id, count: 1, details: [DETAILS] }] });
});

test("doctor warns about it until somebody acknowledges it, and their name is stored", async () => {
  const folder = makeFolder();
  const id = await record(folder);
  expect(found(folder)).toMatchObject([
    {
      status: "warn",
      message: expect.stringContaining("the ledger lost a commit") as string,
      advice: expect.stringContaining("countersign notices list") as string,
    },
  ]);
  const { code, stdout } = folder.run(["notices", "acknowledge", id]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Acknowledged: ${id}, by local:`);
  expect(folder.run(["notices", "list"]).stdout).toBe("There are no notices.\n");
  const by = expect.stringMatching(/^local:/) as string;
  expect(folder.json(["notices", "list", "--all"])).toMatchObject({ items: [{ id, acknowledged: { by } }] });
  expect(folder.run(["notices", "list", "--all"]).stdout).toContain("acknowledged by local:");
  expect(found(folder)).toMatchObject([{ status: "ok" }]);
});

test("an unknown id is refused with its own exit code", async () => {
  const folder = makeFolder();
  await record(folder);
  const { code, stderr } = folder.run(["notices", "acknowledge", "no"]);
  expect(code).toBe(3);
  expect(stderr).toContain("[unknown-notice]");
});

test("a server whose ledger lost data reports it: in its log, its metrics and the inbox", async () => {
  const folder = makeFolder();
  writePayer(folder);
  await folder.withEngine(async () => {});
  const server = folder.start(["serve", "agents", "--port", "0", "--json"]);
  const [, url = ""] = /"url":"([^"]+)"/.exec(await server.until(/"url":"[^"]+"/)) ?? [];
  const counted = async (): Promise<readonly string[]> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return text.split("\n").filter((line) => line.startsWith("countersign_ledger_notices_total"));
  };
  expect(await counted()).toEqual([
    'countersign_ledger_notices_total{kind="new-history"} 0',
    'countersign_ledger_notices_total{kind="lost-commits"} 0',
    'countersign_ledger_notices_total{kind="lost-claim"} 0',
  ]);
  folder.run(["approve", askToPay(folder, 5)]);
  await untilWritten(folder, "effects.log", "start 5");
  const database = new DatabaseSync(join(folder.path, "countersign.db"));
  database.exec("update documents set version = version - 1");
  database.close();
  await server.until(/lost-commits/);
  expect((await counted())[1]).toMatch(/\{kind="lost-commits"\} [1-9]/);
  await expect
    .poll(async () => (await fetch(`${url}/v1/notices`)).json(), { timeout: 10_000 })
    .toMatchObject({ items: [{ kind: "lost-commits", pid: server.pid }] });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
