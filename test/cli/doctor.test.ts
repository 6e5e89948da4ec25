import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

interface Finding {
  readonly about: string;
  readonly status: string;
  readonly message: string;
  readonly advice?: string;
}

function findings(folder: Folder, args: readonly string[] = [], env?: NodeJS.ProcessEnv): readonly Finding[] {
  const { stdout } = folder.run(["doctor", "--json", ...args], env);
  return (JSON.parse(stdout) as { findings: readonly Finding[] }).findings;
}

function about(found: readonly Finding[], name: string): Finding | undefined {
  return found.find((finding) => finding.about === name);
}

function edit(folder: Folder, sql: string): void {
  const database = new DatabaseSync(join(folder.path, "countersign.db"));
  database.exec(sql);
  database.close();
}

describe("doctor", () => {
  test("finds nothing to do on a sound ledger with a secret and a login, and exits 0", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    const env = {
      COUNTERSIGN_SECRET: "x".repeat(40),
      COUNTERSIGN_AUTH: "tokens",
      COUNTERSIGN_HOST: "0.0.0.0",
    };
    const found = findings(folder, [], env);
    expect(found.filter(({ status }) => status !== "ok")).toEqual([]);
    const { code, stdout } = folder.run(["doctor"], env);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("says which of the ledger's files others can read, and how to change it", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    const file = join(folder.path, "countersign.db");
    expect(about(findings(folder), "private")).toMatchObject({ status: "ok" });
    chmodSync(file, 0o644);
    const found = about(findings(folder), "private");
    expect(found).toMatchObject({ status: "warn" });
    expect(found?.message).toContain("countersign.db (mode 644)");
    expect(found?.advice).toContain("chmod 600 ");
  });

  test("makes nothing by looking", () => {
    const folder = makeFolder();
    expect(about(findings(folder), "ledger")).toMatchObject({ status: "warn" });
    expect(folder.read("countersign.db")).toBe("");
  });

  test("warns of a missing and of a short secret, and says how to make one", () => {
    const folder = makeFolder();
    expect(about(findings(folder), "secret")).toMatchObject({ status: "warn" });
    const short = about(findings(folder, [], { COUNTERSIGN_SECRET: "short" }), "secret");
    expect(short?.message).toContain("only 5 characters");
    expect(short?.advice).toContain("openssl rand");
  });

  test("fails where the ledger was created with a different secret, and binds one that nobody wrote to, to none", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    const env = { COUNTERSIGN_SECRET: "x".repeat(40) };
    expect(findings(folder, [], env).filter(({ status }) => status === "fail")).toEqual([]);
    await folder.withEngine(async (engine) => {
      const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
      await pay({}, { key: "k", by: { id: "ana" } });
    });
    expect(findings(folder).filter(({ status }) => status === "fail")).toEqual([]);
    expect(about(findings(folder, [], env), "ledger")).toMatchObject({
      status: "fail",
      message: expect.stringContaining("created without a secret") as string,
    });
  });

  test("fails where serve would refuse: no login, and others can reach it", () => {
    const folder = makeFolder();
    expect(about(findings(folder, ["--host", "0.0.0.0"]), "auth")).toMatchObject({ status: "fail" });
    expect(folder.run(["doctor", "--host", "0.0.0.0"]).code).toBe(1);
  });

  test("fails on a file that is not a ledger, and on one that a newer version wrote", async () => {
    const folder = makeFolder();
    folder.write(
      "notes.db",
      "these are notes, and they are long enough to be taken for a file of a database",
    );
    expect(about(findings(folder, ["--db", "sqlite:notes.db"]), "ledger")).toMatchObject({ status: "fail" });
    await folder.withEngine(async () => {});
    edit(folder, "pragma user_version = 999");
    expect(about(findings(folder), "schema")).toMatchObject({
      status: "fail",
      advice: "Upgrade Countersign.",
    });
  });

  test("reports calls that somebody must settle, and records from the future", async () => {
    const folder = makeFolder();
    await folder.withEngine(async (engine) => {
      const f = engine.gate("f", {}, async () => null);
      await f({}, { key: "a", by: { id: "ana" } });
      await engine.head();
    });
    edit(
      folder,
      `update checkpoints set at = at + 10000000;
       update documents set body = json_set(body, '$.calls[0].s', 'unknown');
       insert into entries (facet, value, sort, id)
       select 'unknown call', '', 0, replace(json_extract(body, '$.calls[0].i'), '~', key) from documents`,
    );
    const found = findings(folder);
    expect(about(found, "clock")).toMatchObject({
      status: "warn",
      message: expect.stringContaining("2h") as string,
    });
    expect(about(found, "unknown")).toMatchObject({ status: "warn" });
  });

  test("names tools that run without asking, and tools that could go around the approval", () => {
    const folder = makeFolder();
    folder.write(
      "agents/ops/agent.ts",
      `import { Agent, tool } from "countersign";
       const make = (name: string, options = {}) => tool({ name, description: "", execute: () => null, ...options });
       export const rootAgent = new Agent({ name: "Ops", model: "gemini-x", tools: [
         make("run_shell", { requireConfirmation: true }), make("look", { readOnly: true }), make("wipe"),
       ] });`,
    );
    const messages = findings(folder, ["agents"], { GEMINI_API_KEY: "a-key" })
      .filter((finding) => finding.about === "ops")
      .map(({ status, message }) => `${status}: ${message}`);
    expect(messages).toEqual([
      expect.stringMatching(/^warn: run_shell can reach this server's API/) as string,
      expect.stringMatching(/^warn: wipe may run without approval/) as string,
    ]);
    const withLogin = findings(folder, ["agents", "--auth", "tokens"], { GEMINI_API_KEY: "a-key" });
    expect(about(withLogin, "ops")).toMatchObject({ status: "ok" });
  });

  test("fails for an agent whose Gemini model has no key, also one below the root", () => {
    const folder = makeFolder();
    folder.write(
      "agents/poet/agent.ts",
      `import { Agent } from "countersign";
       const below = new Agent({ name: "below", model: "gemini-flash-latest" });
       export const rootAgent = new Agent({ name: "poet", subAgents: [below] });`,
    );
    expect(about(findings(folder, ["agents"]), "poet")).toMatchObject({
      status: "fail",
      message: "Its model gemini-flash-latest needs an API key.",
    });
    expect(folder.run(["doctor", "agents"]).code).toBe(1);
  });

  test("fails for an agent that cannot be loaded", () => {
    const folder = makeFolder();
    folder.write("agents/bad/agent.ts", "throw new Error('no');");
    expect(about(findings(folder, ["agents"]), "bad")).toMatchObject({ status: "fail" });
  });
});

describe("migrate", () => {
  test("makes a ledger, says its schema, and does nothing the next time", () => {
    const folder = makeFolder();
    const dry = folder.json(["migrate", "--dry-run"]) as { to: number };
    expect(dry).toMatchObject({ existed: false, from: 0, dryRun: true });
    expect(folder.read("countersign.db")).toBe("");
    expect(folder.run(["migrate"]).stdout).toBe(`sqlite:countersign.db was created with schema ${dry.to}.\n`);
    expect(folder.run(["migrate"]).stdout).toContain("Nothing to do");
    expect(folder.json(["migrate"])).toMatchObject({ existed: true, from: dry.to, to: dry.to });
  });

  test("leaves alone what a newer version wrote", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    edit(folder, "pragma user_version = 999");
    expect(folder.run(["migrate"])).toMatchObject({ code: 6, stdout: "" });
  });
});
