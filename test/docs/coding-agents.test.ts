import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { loadCommand, type NamedCommand } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { parseDuration } from "../../src/cli/duration.ts";
import { HOOK_PROTOCOLS } from "../../src/cli/hooks/agents.ts";
import { parseCommandLine } from "../../src/cli/parse-command-line.ts";

const guide = readFileSync(join(ROOT, "docs/guides/coding-agents.md"), "utf8");
const settings = Array.from(
  guide.matchAll(/^```json\n([\s\S]*?)^```$/gm),
  ([, text = ""]) => JSON.parse(text) as unknown,
);
const lines = Array.from(guide.matchAll(/countersign ((?:hook|serve) [^"\n]*)/g), ([, line = ""]) => line);

async function commandOf(name: string | undefined): Promise<NamedCommand> {
  const entry = COMMANDS.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`There is no command ${name}.`);
  return loadCommand(entry);
}

test("the settings of the guide are JSON, one for each agent and one for the prompt", () => {
  expect(settings).toMatchObject([
    { hooks: { PreToolUse: [{ hooks: [{ timeout: 600, onFailure: "block" }] }] } },
    { mcpServers: { countersign: { args: ["permission-prompt", "--url", expect.anything()] } } },
    { hooks: { PreToolUse: [{ hooks: [{ timeout: 600 }] }] } },
    { hooks: { BeforeTool: [{ hooks: [{ timeout: 600_000 }] }] } },
  ]);
});

test("the commands of the guide are understood, and wait for less than the agents' limits", async () => {
  const limits = { "claude-code": 600_000, codex: 600_000, "gemini-cli": 60_000 };
  for (const [agent, { waitMs }] of HOOK_PROTOCOLS)
    expect(waitMs).toBeLessThan(limits[agent as keyof typeof limits]);
  const hooks = lines.filter((line) => line.startsWith("hook ") && line.includes("--url"));
  expect(hooks).toHaveLength(3);
  for (const line of hooks) {
    const [name, ...args] = line.split(" ");
    const { flags } = parseCommandLine(await commandOf(name), args);
    expect(parseDuration(flags.text("wait") ?? "9m", "wait")).toBeLessThan(600_000);
  }
});

test("the guide and the help say what is approval only and what is at most once", async () => {
  expect((await commandOf("hook")).about).toContain("Approval only");
  expect((await commandOf("permission-prompt")).about).toContain("Approval only");
  expect((await commandOf("exec")).about).toContain("At most once");
  for (const name of ["hook claude-code", "hook codex", "hook gemini-cli", "permission-prompt"])
    expect(guide).toMatch(new RegExp(`^\\| \`countersign ${name}\` .*approval only`, "m"));
  expect(guide).toMatch(/^\| `countersign exec -- COMMAND` .*at most once/m);
});
