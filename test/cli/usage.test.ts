import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { ERROR_CODES } from "../../src/protocol/index.ts";
import { Child, type Line } from "../support/processes/child.ts";
import { ENTRY, makeFolder } from "../support/processes/command-line.ts";

/** What the program says of each command. */
interface Help extends Line {
  readonly type: "help";
  readonly name: string;
  readonly code: number;
  readonly help: string;
}

describe("help", () => {
  test("lists every command, by any of its names, in 80 columns", () => {
    const folder = makeFolder();
    const [bare, ...others] = [[], ["help"], ["--help"], ["-h"]].map((args) => folder.run(args));
    for (const other of others) expect(other).toEqual(bare);
    expect(bare).toMatchObject({ code: 0, stderr: "" });
    for (const { name } of COMMANDS) expect(bare?.stdout).toContain(`\n  ${name} `);
    for (const line of bare?.stdout.split("\n") ?? []) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("of every command has usage, flags and examples", async () => {
    const child = new Child<Help>(new URL("help.program.ts", import.meta.url));
    for (const { name } of COMMANDS) {
      const { code, help } = await child.line("help", (line) => line.name === name);
      expect(code, name).toBe(0);
      expect(help, name).toMatch(new RegExp(`^countersign ${name}: `));
      for (const title of ["Usage", "Flags", "Examples"]) expect(help, name).toContain(`\n${title}\n`);
      expect(help, name).toContain("--json");
      for (const line of help.split("\n")) expect(line.length, name).toBeLessThanOrEqual(80);
    }
    expect([await child.ended, child.complaints]).toEqual([{ code: 0, signal: null }, ""]);
  });

  test.each(["approve", "audit verify"])("of `%s` is the same by `help` before it", (name) => {
    const folder = makeFolder();
    const words = name.split(" ");
    expect(folder.run(["help", ...words])).toEqual(folder.run([...words, "--help"]));
  });

  test("of a group lists its members; the group alone is not a command", () => {
    const folder = makeFolder();
    expect(folder.run(["audit", "--help"])).toMatchObject({ code: 0 });
    expect(folder.run(["audit"])).toMatchObject({ code: 2 });
    expect(folder.run(["help", "audit"]).stdout).toContain("audit verify");
  });
});

test("--version is the package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const expected = { code: 0, stdout: `${manifest.version}\n`, stderr: "" };
  const folder = makeFolder();
  expect(folder.run(["--version"])).toEqual(expected);
  expect(folder.run(["-v"])).toEqual(expected);
});

describe("a command line that is not understood", () => {
  test.each([
    [["aprove", "x"], "There is no command `aprove`. Did you mean `countersign approve`?"],
    [["audit", "vrify"], "There is no command `audit vrify`. Did you mean `countersign audit verify`?"],
    [["frobnicate"], "There is no command `frobnicate`. `countersign help` lists all commands."],
    [["approve", "x", "--wiat", "3"], "`approve` has no flag --wiat. Did you mean --wait?"],
    [["pending", "-x"], "`pending` has no flag -x. `countersign pending --help` lists its flags."],
    [
      ["approve"],
      "`approve` needs <id>: countersign approve <id> [--payload JSON] [--args JSON --agent PATH] [--grant JSON] [--wait SECONDS]",
    ],
    [["pending", "extra"], '`pending` does not take "extra": countersign pending [--tool NAME]'],
    [["deny", "abcd", "--reason"], "--reason needs a value: --reason TEXT."],
    [["deny", "abcd", "--reason", "--db"], "looks like a flag. If it is the value, write --reason=--db."],
    [["pending", "--json=yes"], "--json takes no value."],
    [["pending", "--limit", "0"], 'Invalid --limit "0". Use a number of at least 1.'],
    [["prune"], "`prune` needs --older-than AGE, for example 30d."],
    [
      ["prune", "--older-than", "soon"],
      'Invalid --older-than "soon". Use a number and a unit, for example 90s, 12h, 30d or 2w.',
    ],
  ])("%j is told in one line, with exit code 2", async (args, message) => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    const { code, stdout, stderr } = folder.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^countersign: [^\n]* \[(malformed-request|invalid-option)\]\n$/);
  });
});

describe("a ledger that cannot be used", () => {
  test("is not made by looking for it", () => {
    const folder = makeFolder();
    const { code, stderr } = folder.run(["pending"]);
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /^countersign: There is no ledger at "countersign.db"; .* \[ledger-unreachable\]\n$/,
    );
    expect(folder.run(["pending"])).toMatchObject({ code: 6 });
  });

  test("is named, with what to do, and without a stack", () => {
    const folder = makeFolder();
    writeFileSync(join(folder.path, "notes.txt"), "these are notes, not a database, and long enough to tell");
    const other = folder.run(["pending", "--db", "sqlite:notes.txt"]);
    expect(other).toMatchObject({ code: 6, stdout: "" });
    expect(other.stderr).toMatch(/^countersign: [^\n]*notes\.txt[^\n]* \[ledger-unreachable\]\n$/);
    const scheme = folder.run(["pending", "--db", "notes.db"]);
    expect(scheme).toMatchObject({ code: 2 });
    expect(scheme.stderr).toMatch(/Use "sqlite:path\/to\/file\.db".*\[invalid-option\]\n$/);
  });

  test("is the one of COUNTERSIGN_DB, where no flag names another", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    const elsewhere = { COUNTERSIGN_DB: "sqlite:elsewhere.db" };
    expect(folder.run(["pending"], elsewhere).stderr).toContain("elsewhere.db");
    expect(folder.run(["pending", "--db", folder.ledger], elsewhere).code).toBe(0);
  });
});

test("with --json an error is JSON too, on standard error", () => {
  const folder = makeFolder();
  const { stdout, stderr } = folder.run(["pending", "--limit", "x", "--json", "--db", "memory:"]);
  expect(stdout).toBe("");
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; field: string } };
  expect(error).toMatchObject({ code: "invalid-option", field: "limit" });
  expect(Object.keys(ERROR_CODES)).toContain(error.code);
});

test("a reader that closes the pipe early is not an error", async () => {
  const folder = makeFolder();
  await folder.withEngine(async (engine) => {
    const f = engine.gate("f", {}, async () => null);
    for (let n = 0; n < 200; n++) await f({}, { key: String(n), by: { id: "ana" } });
  });
  // More than a pipe holds: the command still writes when its reader is gone.
  expect(folder.run(["audit", "log", "--json"]).stdout.length).toBeGreaterThan(100_000);
  const piped = spawnSync("sh", ["-c", `"$0" "$1" audit log --json | head -1`, process.execPath, ENTRY], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect(piped.stderr).toBe("");
  expect(piped.stdout.split("\n")).toHaveLength(2);
});
