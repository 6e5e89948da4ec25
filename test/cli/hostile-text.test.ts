import { expect, test } from "vitest";
import { inertJson } from "../../src/cli/output.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const ESC = "\u001b";
const HINT = `Read a file?\n  deadline    none ${ESC}[2J${ESC}]0;owned\u0007 \u202egpj.exe`;
const PATH = `/etc/\u202e\u200bpasswd\u009b31m`;

async function askHostile(folder: Folder): Promise<string> {
  return folder.withEngine(async (engine) => {
    const read = engine.gate(
      `read${ESC}[8m`,
      { requireConfirmation: true, confirmationHint: HINT, secrets: ["/token"] },
      async () => null,
    );
    const use = { key: `k${ESC}[1m`, by: { id: `ana\u202e${ESC}[31m` } };
    const outcome = await read({ path: PATH, token: "hunter2" }, use);
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  });
}

/** Control characters but the newline, and what reorders or hides. */
const ACTIVE = /[^\P{Cc}\n]|\p{Bidi_Control}|\u200b/u;

test.each([["pending"], ["show"], ["audit log"]])(
  "in `%s` the words of others cannot act on a terminal",
  async (name) => {
    const folder = makeFolder();
    const id = await askHostile(folder);
    const words = name === "show" ? ["show", id] : name.split(" ");
    const { code, stdout } = folder.run(words);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(ACTIVE);
    expect(stdout).toContain("⟨U+001B⟩");
    expect(stdout).not.toContain("hunter2");
  },
);

test("the list shows a hint of several lines in one", async () => {
  const folder = makeFolder();
  await folder.withEngine(async (engine) => {
    const gate = { requireConfirmation: true, confirmationHint: "Which venue?\r\n  What must it have?" };
    await engine.gate("ask", gate, async () => null)({}, { key: "k", by: { id: "ana" } });
  });
  expect(folder.run(["pending"]).stdout).toContain("│ Which venue? What must it have?\n");
});

test("what others say over several lines stays behind a bar", async () => {
  const folder = makeFolder();
  const id = await askHostile(folder);
  const { stdout } = folder.run(["show", id]);
  const faked = stdout.split("\n").filter((line) => line.includes("deadline"));
  expect(faked).toHaveLength(2);
  expect(faked[0]).toMatch(/^ {2}│ {3}deadline/);
  expect(faked[1]).toMatch(/^ {2}deadline {4}none$/);
});

test("JSON says all of it, in characters that are inert", async () => {
  const folder = makeFolder();
  const id = await askHostile(folder);
  const { stdout } = folder.run(["show", id, "--json"]);
  expect(stdout).not.toMatch(ACTIVE);
  expect(JSON.parse(stdout)).toMatchObject({ hint: HINT, args: { path: PATH, token: "[redacted]" } });
});

test("inert JSON reads back as the same value", () => {
  const value = { "\u202ekey": ["\u{e0041}\u00ad\u007f\u2028", "plain é 漢 👍"] };
  const text = inertJson(value, 2);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toContain("漢 👍");
  expect(text).not.toMatch(/[\u00ad\u007f\u2028\u202e]|\u{e0041}/u);
});

test("a hostile reason, error or id is inert in errors too", async () => {
  const folder = makeFolder();
  await folder.withEngine(async () => {});
  const { stderr } = folder.run(["show", `abcd${ESC}[31m\nfaked line`]);
  expect(stderr).toMatch(/^countersign: [^\n]*\n$/);
  expect(stderr).not.toMatch(ACTIVE);
});

test("there is no colour without a terminal, nor with NO_COLOR", async () => {
  const folder = makeFolder();
  const id = await askHostile(folder);
  expect(folder.run(["show", id], { FORCE_COLOR: "1" }).stdout).not.toContain(ESC);
  const plain = await folder.terminal(["show", id], { NO_COLOR: "1" }).ended();
  expect(plain.screen).not.toContain(ESC);
  const coloured = await folder.terminal(["show", id]).ended();
  expect(coloured.screen).toContain(`${ESC}[1m`);
});
