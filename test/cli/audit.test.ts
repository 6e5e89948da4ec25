import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

async function record(folder: Folder): Promise<void> {
  await folder.withEngine(async (engine) => {
    const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
    const outcome = await wipe({ disk: 1 }, { key: "disk-1", by });
    if (outcome.status === "pending") await engine.deny(outcome.confirmation.id, { by, reason: "no" });
  });
}

function edit(folder: Folder, sql: string): void {
  const database = new DatabaseSync(join(folder.path, "countersign.db"));
  database.exec(sql);
  database.close();
}

describe("audit verify", () => {
  test("counts, says what it cannot find, and exits 0", async () => {
    const folder = makeFolder();
    await record(folder);
    const { code, stdout } = folder.run(["audit", "verify"]);
    expect(code).toBe(0);
    expect(stdout).toContain("The journal is intact: 2 records in 1 session, 0 checkpoints.");
    expect(stdout).toContain("This check cannot detect:");
    expect(stdout).toContain("Without COUNTERSIGN_SECRET");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(folder.json(["audit", "verify"])).toMatchObject({ ok: true, records: 2, streams: 1, faults: [] });
  });

  test("names what was altered and exits 1", async () => {
    const folder = makeFolder();
    await record(folder);
    edit(folder, "update log set body = replace(body, 'ana', 'ben') where n = 2");
    const { code, stdout } = folder.run(["audit", "verify"]);
    expect(code).toBe(1);
    expect(stdout).toContain("The journal is NOT intact");
    expect(stdout).toMatch(/commit 2: its body was changed/);
    expect(stdout).toContain("is not set here");
  });

  test("finds with a stored head that the end was removed", async () => {
    const folder = makeFolder();
    await record(folder);
    const head = folder.run(["audit", "head"]).stdout.trim();
    expect(head).toMatch(/^1:[\w-]+$/);
    expect(folder.json(["audit", "head"])).toEqual({ head });
    expect(folder.run(["audit", "verify", "--head", head]).code).toBe(0);
    edit(
      folder,
      `delete from log; delete from checkpoints;
       update documents set body = json_set(body, '$.head.chain', json('{"n":0,"hash":""}'))`,
    );
    expect(folder.run(["audit", "verify"]).code).toBe(0);
    const cut = folder.run(["audit", "verify", "--head", head]);
    expect(cut.code).toBe(1);
    expect(cut.stdout).toMatch(/truncated\s+or\s+rewritten/);
    for (const mistyped of ["nonsense", head.slice(0, -1), `x${head}`]) {
      const { code, stdout, stderr } = folder.run(["audit", "verify", "--head", mistyped]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("is not a head");
    }
  });
});

describe("audit log", () => {
  test("tells when, what and who, one line a record", async () => {
    const folder = makeFolder();
    await record(folder);
    const { stdout } = folder.run(["audit", "log"]);
    expect(stdout).toMatch(
      /^[\d-]{10} [\d:]{8}Z {2}confirmation-requested {2}wipe \w{8}\n[\d-]{10} [\d:]{8}Z {2}confirmation-denied {5}wipe \w{8} by ana \(no\)\n$/,
    );
  });

  test("cuts nothing where it is not printed on a terminal: who decided stays", async () => {
    const folder = makeFolder();
    const name = "maria.gonzalez@accounting.example.com";
    await folder.withEngine(async (engine) => {
      const transfer = engine.gate("transfer_between_accounts", { requireConfirmation: true }, async () => 1);
      await transfer({}, { key: "k", by: { id: name } });
      for (const { id } of await engine.pending()) await engine.deny(id, { by: { id: name }, reason: "no" });
    });
    expect(folder.run(["audit", "log"]).stdout).toContain(`by ${name} (no)\n`);
  });

  test("gives programs one record a line, from where they ask", async () => {
    const folder = makeFolder();
    await record(folder);
    const lines = (...args: string[]): readonly { seq: number; kind: string; body: unknown }[] =>
      folder
        .run(["audit", "log", "--json", ...args])
        .stdout.split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { seq: number; kind: string; body: unknown });
    const all = lines();
    expect(all.map(({ kind }) => kind)).toEqual(["confirmation-requested", "confirmation-denied"]);
    expect(all[1]).toMatchObject({ body: { tool: "wipe", reason: "no", by: { id: "ana" } } });
    expect(lines("--after", String(all[0]?.seq))).toEqual(all.slice(1));
    expect(lines("--limit", "1")).toEqual(all.slice(0, 1));
    expect(lines("--session", "gate:wipe/gate/disk-1")).toEqual(all);
  });

  test("refuses a session that there is not", async () => {
    const folder = makeFolder();
    await record(folder);
    const { code, stderr } = folder.run(["audit", "log", "--session", "nobody"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/\[unknown-session\]\n$/);
  });
});

test("prune erases what is old, says how much it would be, and leaves a journal that verifies", async () => {
  const folder = makeFolder();
  await record(folder);
  expect(folder.json(["prune", "--older-than", "1d"])).toEqual({ sessions: 0, dryRun: false });
  edit(
    folder,
    `update documents set updated_at = updated_at - 172800000,
     body = json_set(body, '$.head.updatedAt', updated_at - 172800000, '$.head.createdAt', updated_at - 172800000)`,
  );
  expect(folder.json(["prune", "--older-than", "1d", "--dry-run"])).toEqual({ sessions: 1, dryRun: true });
  expect(folder.run(["prune", "--older-than", "1d"]).stdout).toBe("Erased the content of 1 session.\n");
  const log = folder.run(["audit", "log"]).stdout;
  expect(log).toContain("(erased; its digest is kept)");
  expect(log).not.toContain("ana");
  expect(folder.run(["audit", "verify"]).code).toBe(0);
});
