import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

async function ask(folder: Folder, disk: string): Promise<string> {
  return folder.withEngine(async (engine) => {
    const wipe = engine.gate("wipe", { requireConfirmation: true, expiresInMs: 3_600_000 }, async () => null);
    const outcome = await wipe({ disk }, { key: disk, by });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  });
}

describe.skipIf(process.platform !== "linux")("pending --watch", () => {
  test("is a table that follows the ledger, and q leaves it", async () => {
    const folder = makeFolder();
    const first = await ask(folder, "sda");
    const terminal = folder.terminal(["pending", "--watch"]);
    const screen = await terminal.until("1 waiting");
    expect(screen).toContain(first.slice(-8));
    expect(screen).toMatch(/59m/);
    const second = await ask(folder, "sdb\u001b[2J");
    await terminal.until("2 waiting");
    expect(await terminal.until(second.slice(-8))).not.toContain("\u001b[2J");
    folder.run(["deny", first]);
    folder.run(["deny", second]);
    await terminal.until("Nothing waits for a decision.");
    terminal.type("q");
    const { code, screen: all } = await terminal.ended();
    expect(code).toBe(0);
    expect(all.trimEnd().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
  });

  test("Ctrl-C leaves it too", async () => {
    const folder = makeFolder();
    await ask(folder, "sda");
    const terminal = folder.terminal(["pending", "--watch"]);
    await terminal.until("1 waiting");
    terminal.type("\u0003");
    expect((await terminal.ended()).code).toBe(130);
  });
});

test("without a terminal --watch is the plain list", async () => {
  const folder = makeFolder();
  const id = await ask(folder, "sda");
  const { code, stdout } = folder.run(["pending", "--watch"]);
  expect(code).toBe(0);
  expect(stdout).toContain(id.slice(-8));
  expect(stdout).not.toContain("\u001b");
});

test("show tells what happened to a call, oldest first", async () => {
  const folder = makeFolder();
  const id = await ask(folder, "sda");
  folder.run(["deny", id, "--reason", "in use"]);
  const { stdout } = folder.run(["show", id]);
  expect(stdout).toMatch(
    /history\n.*confirmation-requested.*\n.*confirmation-denied .* by local:.* \(in use\)\n/,
  );
});

test("long work says on a terminal how far it is, and leaves no trace of that", async () => {
  const folder = makeFolder();
  await ask(folder, "sda");
  const { code, screen } = await folder.terminal(["audit", "verify"]).ended();
  expect(code).toBe(0);
  expect(screen).toContain("1 records checked …");
  expect(screen).toContain("The journal is intact");
});
