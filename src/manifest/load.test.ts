import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "../runtime/index.ts";
import { checkManifest, loadManifest, problemText, type RemoteAgentDescription } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function write(text: string, name = `manifest-${files++}.yaml`): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** What is wrong, without the file's name. */
function problemsOf(text: string): readonly string[] {
  const file = write(text);
  return checkManifest(file).problems.map((problem) => problemText(problem).slice(file.length + 1));
}

function warningsOf(file: string): readonly string[] {
  return checkManifest(file).warnings.map(({ message }) => message);
}

/** A whole manifest whose tools are these lines. */
const withTools = (...tools: readonly string[]): string =>
  [
    "apiVersion: kagent.dev/v1alpha2",
    "kind: Agent",
    "metadata: { name: a }",
    "spec:",
    "  declarative:",
    "    systemMessage: Help.",
    "    tools:",
    ...tools.map((line) => `    ${line}`),
  ].join("\n");

/** One whose tool is an agent. */
const using = (agent: string): string => withTools(`- { type: Agent, agent: ${agent} }`);

describe("problems have line and column, and say how to fix them", () => {
  test.each<[string, string, string]>([
    ["no YAML", "a: [1", "1:6: "],
    ["an empty file", "", "1:1: the file is empty"],
    [
      "another kind",
      "apiVersion: kagent.dev/v1alpha2\nkind: Agnet\nmetadata: { name: a }\nspec: {}",
      '2:7: kind is "Agnet"',
    ],
    [
      "another version",
      "apiVersion: v1\nkind: Agent\nmetadata: { name: a }\nspec: { declarative: { systemMessage: x } }",
      '1:13: apiVersion is "v1"; use kagent.dev/v1alpha2',
    ],
    [
      "no name",
      "apiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: {}\nspec: { declarative: { systemMessage: x } }",
      "3:11: metadata lacks name",
    ],
    [
      "no instruction",
      "apiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: { name: a }\nspec:\n  declarative: {}",
      "5:16: spec.declarative lacks systemMessage",
    ],
    [
      "an agent that is code",
      "apiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: { name: a }\nspec: { type: BYO }",
      '4:15: spec.type is "BYO"',
    ],
    [
      "a misspelt member",
      withTools("- type: McpServer", "  mcpServer: { name: x, toolName: [a], countersign: { command: x } }"),
      '9:29: mcpServer has no member "toolName"; did you mean toolNames?',
    ],
    [
      "another spelling",
      withTools(
        "- type: McpServer",
        "  mcpServer: { name: x, require_approval: [a], countersign: { command: x } }",
      ),
      "did you mean requireApproval?",
    ],
    ["a tool of another type", withTools("- type: Shell"), '8:13: a tool\'s type is "Shell"'],
    [
      "a gate without its tool",
      withTools(
        "- type: McpServer",
        "  mcpServer: { name: x, toolNames: [a], requireApproval: [b], countersign: { command: x } }",
      ),
      'each requireApproval entry must also appear in toolNames; "b" does not',
    ],
    [
      "a server that is nowhere",
      withTools("- type: McpServer", "  mcpServer: { name: x }"),
      '9:18: there is no MCP server "x"; put its command or url',
    ],
    [
      "a server without a place",
      withTools("- type: McpServer", "  mcpServer: { name: x, countersign: {} }"),
      "needs a command or a url",
    ],
    [
      "an address that is none",
      withTools("- type: McpServer", "  mcpServer: { name: x, countersign: { url: here } }"),
      "url is not a URL: here",
    ],
    [
      "an agent that is nowhere",
      withTools("- type: Agent", "  agent: { name: other }"),
      'there is no agent "other" in this file',
    ],
    [
      "a name that is no text",
      withTools("- type: McpServer", "  mcpServer: { name: [x] }"),
      "mcpServer.name must be a string",
    ],
    ["a config without words", "http_tools: []", "the agent config lacks instruction"],
  ])("%s", (_, text, expected) => {
    expect(problemsOf(text).join("\n")).toContain(expected);
  });

  test("all of it at once, and loading refuses with the same words", () => {
    const file = write(withTools("- type: Shell", "- type: Agent", "  agent: { name: other }"));
    expect(checkManifest(file).problems).toHaveLength(2);
    expect(() => loadManifest(file)).toThrow(/8:13.*\n.*10:14/);
  });

  test("what only a cluster needs is a warning", () => {
    const file = write(withTools("[]").replace("    tools:\n    []", "    stream: true\n    a2aConfig: {}"));
    const report = checkManifest(file);
    expect(report.problems).toEqual([]);
    expect(report.warnings.map(({ message }) => message)).toEqual([
      "spec.declarative.a2aConfig is ignored outside a cluster",
      "spec.declarative.stream is ignored outside a cluster",
    ]);
  });
});

function agentWith(declarative: string, more = ""): string {
  return write(
    [
      "apiVersion: kagent.dev/v1alpha2",
      "kind: Agent",
      "metadata: { name: a-b }",
      "spec:",
      "  description: Helps.",
      "  declarative:",
      "    systemMessage: Help.",
      `    ${declarative}`,
      more,
    ].join("\n"),
  );
}

describe("models", () => {
  const config =
    "---\napiVersion: kagent.dev/v1alpha2\nkind: ModelConfig\nmetadata: { name: fast }\nspec: { provider: Gemini, model: gemini-x }\n";

  test.each<[string, string, string]>([
    ["its own", "model: gemini-own", "gemini-own"],
    ["that of the config it names", "modelConfig: fast", "gemini-x"],
    ["the one that was given for all others", "modelConfig: unknown", "given"],
  ])("an agent has %s", (_, declarative, model) => {
    const [made] = loadManifest(agentWith(declarative, config), { model: "given" });
    expect(made?.agent).toMatchObject({ name: "a_b", description: "Helps.", instruction: "Help.", model });
  });

  test("without any, a scripted one, that needs no key", () => {
    const [made] = loadManifest(agentWith("stream: false"));
    expect(made?.agent.model).toHaveProperty("generate");
  });
});

test("the JSON config of kagent's runtime is read unchanged", () => {
  const file = write(
    JSON.stringify({
      model: { type: "gemini", model: "gemini-2.0-flash" },
      description: "Files.",
      instruction: "You help users manage files.",
      http_tools: [
        {
          params: { url: "http://localhost:9/mcp", headers: { "x-team": "a" }, timeout: 5 },
          tools: ["read_file", "delete_file"],
          require_approval: ["delete_file"],
        },
      ],
      sse_tools: [{ params: { url: "http://localhost:9/sse" }, tools: [] }],
    }),
    "config.json",
  );
  const [made] = loadManifest(file);
  expect(made).toMatchObject({ name: "config", agent: { name: "config", model: "gemini-2.0-flash" } });
  expect(made?.agent.tools.map(({ name }) => name)).toEqual(["localhost:9", "localhost:9"]);
});

test("agents of one file use each other as tools, but not in a circle", () => {
  const agent = (name: string, other: string) =>
    withTools("- type: Agent", `  agent: { name: ${other} }`).replace("name: a }", `name: ${name} }`);
  const leaf = withTools("[]").replace("name: a }", "name: leaf }").replace("    tools:\n    []", "");
  const agents = loadManifest(write([agent("top", "leaf"), leaf].join("\n---\n")));
  expect(agents.map(({ name }) => name)).toEqual(["top", "leaf"]);
  expect(agents[0]?.agent.tools.map(({ name }) => name)).toEqual(["leaf"]);
  expect(() => loadManifest(write([agent("a", "b"), agent("b", "a")].join("\n---\n")))).toThrow("a → b → a");
});

test("approvers and deadlines are read under countersign, and a rule that names nobody is refused", () => {
  const tool = "- type: McpServer\n      mcpServer: { name: x, toolNames: [a], countersign: { command: x } }";
  const asking = (text: string) =>
    problemsOf(withTools(tool).replace("spec:\n", `spec:\n  countersign: ${text}\n`));
  expect(asking("{ expiresIn: 12h, approvers: { roles: [ops], notRequester: true } }")).toEqual([]);
  expect(asking("{ expiresIn: soon }")).toEqual([
    '5:29: spec.countersign.expiresIn is "soon"; use a number and a unit, for example 90s, 12h or 30d',
  ]);
  expect(asking("{ approvers: { users: [] } }").join()).toContain("names nobody");
  expect(asking("{ approvers: everybody }").join()).toContain("must be requester, or a map");
});

test("fields that are ignored here give a warning, each with its reason", () => {
  const file = write(
    JSON.stringify({
      instruction: "Help.",
      remote_agents: [{ name: "desk", url: "http://localhost:9", timeout: 5 }],
      http_tools: [{ params: { url: "http://localhost:9", timeout: 5 }, tools: [] }],
    }),
    "warned.json",
  );
  expect(warningsOf(file)).toEqual([
    "params.timeout is ignored here",
    "an entry of remote_agents.timeout is ignored here",
  ]);
  const started =
    "- type: McpServer\n      mcpServer: { name: x, allowedHeaders: [x-a], countersign: { command: x } }";
  expect(warningsOf(write(withTools(started)))).toEqual([
    "allowedHeaders is ignored for a server that is started by a command",
  ]);
});

describe("an agent that lives elsewhere", () => {
  const seen: RemoteAgentDescription[] = [];
  const remoteAgent = (about: RemoteAgentDescription): Agent => {
    seen.push(about);
    return new Agent({ name: about.name, model: "m" });
  };

  test.each([
    ["http://desk.example/a2a/desk", "http://desk.example/a2a/desk/.well-known/agent-card.json"],
    ["https://desk.example/", "https://desk.example/.well-known/agent-card.json"],
    ["https://desk.example/cards/desk.json", "https://desk.example/cards/desk.json"],
  ])("is found by its address, or that of its card: %s", (url, card) => {
    const file = write(using(`{ name: help-desk, countersign: { url: "${url}" } }`));
    expect(checkManifest(file)).toMatchObject({ problems: [], remoteAgents: ["help-desk"] });
    const [made] = loadManifest(file, { remoteAgent });
    expect(made?.agent.tools.map(({ name }) => name)).toEqual(["help_desk"]);
    expect(seen.at(-1)).toEqual({ name: "help_desk", card: new URL(card) });
  });

  test("is found in the file beside the manifest, with its headers and whom the manifest admits", () => {
    const beside = "agents:\n  desk: { url: http://desk.example, headers: { x-a: b }, description: Files. }";
    const path = write(beside, "remote-agents.yaml");
    const text = using("{ name: desk }").replace(
      "spec:\n",
      "spec:\n  countersign: { approvers: { roles: [ops] } }\n",
    );
    loadManifest(write(text), { remoteAgent });
    const { headers, ...rest } = seen.at(-1) ?? {};
    expect([headers?.(), rest]).toEqual([
      { "x-a": "b" },
      {
        name: "desk",
        card: new URL("http://desk.example/.well-known/agent-card.json"),
        description: "Files.",
        approvers: { roles: ["ops"] },
      },
    ]);
    expect(() => loadManifest(write(text))).toThrow('The agent "desk" is remote. Set');
    write("agents: { desk: { adress: http://desk.example } }", "remote-agents.yaml");
    expect(problemsOf(text).join("\n")).toContain('agents.desk has no member "adress"');
    rmSync(path);
  });

  test("is not looked for where an agent of the same file has its name", () => {
    const path = write("agents: { leaf: { url: http://desk.example } }", "remote-agents.yaml");
    const leaf = withTools(
      "- { type: Agent, agent: { name: other, countersign: { url: http://o.example } } }",
    );
    const file = write([using("{ name: leaf }"), leaf.replace("name: a", "name: leaf")].join("\n---\n"));
    expect(checkManifest(file)).toMatchObject({ problems: [], remoteAgents: ["other"] });
    rmSync(path);
  });

  test.each([
    ["no address", "{ name: desk, countersign: {} }", "agent.countersign lacks url"],
    [
      "another protocol",
      "{ name: desk, countersign: { url: ftp://desk } }",
      "starts with http:// or https://",
    ],
    ["an unknown member", "{ name: desk, countersign: { url: http://d, card: x } }", 'no member "card"'],
    ["nowhere", "{ name: desk }", "or under agents.desk in remote-agents.yaml beside this file"],
  ])("%s is told", (_, agent, message) => {
    expect(problemsOf(using(agent)).join("\n")).toContain(message);
  });
});

test("a header that cannot be passed on is reported", () => {
  const tool =
    '- type: McpServer\n      mcpServer: { name: x, allowedHeaders: [x-a, Host], countersign: { url: "http://x" } }';
  expect(problemsOf(withTools(tool))).toEqual(["9:45: allowedHeaders: Host is set by the connection itself"]);
});
