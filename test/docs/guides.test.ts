import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { mcp } from "../../src/cli/commands/mcp.ts";
import { serve } from "../../src/cli/commands/serve.ts";
import { checkManifest } from "../../src/manifest/index.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The fenced blocks of a page in one language. */
function blocks(page: string, language: string): readonly string[] {
  const fenced = read(page).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return Array.from(fenced, ([, text = ""]) => text);
}

test("the manifests of the guide are the example's, and its fields are understood where it says they stand", () => {
  const [manifest = "", servers = "", agents = "", fields = ""] = blocks("docs/guides/manifests.md", "yaml");
  expect(manifest).toBe(read("examples/agents/file_manager/agent.yaml"));
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "mcp-servers.yaml"), servers);
  writeFileSync(join(folder, "remote-agents.yaml"), agents);
  const using = "    tools:\n    - { type: Agent, agent: { name: help-desk } }\n";
  const text = manifest.replace("spec:\n", fields).replace("    tools:\n", using);
  writeFileSync(join(folder, "agent.yaml"), text);
  expect(checkManifest(join(folder, "agent.yaml"))).toEqual({
    agents: ["file-manager"],
    remoteAgents: ["help-desk"],
    problems: [],
    warnings: [],
  });
});

test("the flags that the guide lists are the command's, and the settings of a client are JSON", () => {
  const listed = [...read("docs/guides/mcp.md").matchAll(/^\| `--([a-z]+)/gm)].map(([, name]) => name);
  expect(listed.length).toBeGreaterThan(5);
  for (const name of listed) expect(Object.keys(mcp.flags)).toContain(name);
  const [settings = ""] = blocks("docs/guides/mcp.md", "json");
  expect(JSON.parse(settings)).toHaveProperty("mcpServers.notes.command");
});

test("the flags with which the guide serves tenants, and the variables of a tenant's file, are those of serve", () => {
  const page = read("docs/guides/tenants.md");
  const [, lines = ""] = /^(countersign serve [^`]*)^```$/m.exec(page) ?? [];
  const flags = [...lines.matchAll(/--([a-z-]+)/g)].map(([, name]) => name);
  expect(flags).toEqual(["registry", "public-url", "tenants", "auth"]);
  for (const name of flags) expect(Object.keys(serve.flags)).toContain(name);
  const variables = [...page.matchAll(/^ +COUNTERSIGN_(\w+)=/gm)].map(([, name = ""]) => name);
  const secrets = ["SECRET", "SLACK_TOKEN"];
  const settings = variables.filter((name) => !secrets.includes(name));
  expect(settings).toHaveLength(variables.length - secrets.length);
  for (const name of settings)
    expect(Object.keys(serve.flags)).toContain(name.toLowerCase().replaceAll("_", "-"));
});
