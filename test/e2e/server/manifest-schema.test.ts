import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkSchema } from "../../../src/engine/common/schema/json-schema.ts";
import { checkManifest } from "../../../src/manifest/index.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/index.ts";

const SCHEMA = JSON.parse(
  readFileSync(new URL("../../../docs/schema/manifest.schema.json", import.meta.url), "utf8"),
) as JsonObject;

const folder = mkdtempSync(join(tmpdir(), "countersign-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemsOf(manifest: JsonValue): readonly string[] {
  const file = join(folder, "manifest.json");
  writeFileSync(file, JSON.stringify(manifest));
  return checkManifest(file).problems.map(({ message }) => message);
}

const HEAD = { apiVersion: "kagent.dev/v1alpha2", kind: "Agent", metadata: { name: "a" } };
const agent = (declarative: JsonObject, spec: JsonObject = {}): JsonObject => ({
  ...HEAD,
  spec: { ...spec, declarative: { systemMessage: "Help.", ...declarative } },
});
const server = (members: JsonObject, tool: JsonObject = {}): JsonObject =>
  agent({
    tools: [
      { type: "McpServer", mcpServer: { name: "x", countersign: { command: "true" }, ...members }, ...tool },
    ],
  });
const config = (members: JsonObject): JsonObject => ({ instruction: "Help.", ...members });
const httpTools = (members: JsonObject): JsonObject =>
  config({ http_tools: [{ params: { url: "http://localhost:9/mcp" }, ...members }] });

/** Every form of every member, right and wrong. What only the reader can tell is in the next list. */
const CORPUS: readonly JsonValue[] = [
  agent({}),
  agent({
    model: "m",
    modelConfig: "c",
    stream: true,
    deployment: {},
    memory: {},
    a2aConfig: {},
    runtime: "go",
  }),
  agent({}, { type: "Declarative", description: "Helps.", skills: [] }),
  agent({}, { type: "BYO" }),
  agent({ systemMessage: "" }),
  agent({ systemMessage: 5 }),
  agent({ systemMesage: "x" }),
  agent({ tools: {} }),
  agent({ tools: [{ type: "Shell" }] }),
  agent({ tools: [{ type: "McpServer" }] }),
  agent({ tools: [{ type: "Agent" }] }),
  agent({ tools: [{ type: "Agent", agent: {} }] }),
  agent({ tools: [{ type: "Agent", agent: { name: "b", countersign: { url: "http://b.example" } } }] }),
  agent({
    tools: [
      {
        type: "Agent",
        agent: {
          name: "b",
          countersign: { url: "https://b.example", headers: { a: "b" }, description: "B." },
        },
      },
    ],
  }),
  agent({ tools: [{ type: "Agent", agent: { name: "b", countersign: {} } }] }),
  agent({ tools: [{ type: "Agent", agent: { name: "b", countersign: { url: "ftp://b.example" } } }] }),
  agent({ tools: [{ type: "Agent", agent: { name: "b", countersign: { url: "http://b", card: "x" } } }] }),
  agent({ tools: [{ mcpServer: { name: "x" } }] }),
  agent({}, { countersign: {} }),
  agent({}, { countersign: { expiresIn: "12h" } }),
  agent({}, { countersign: { expiresIn: "0h" } }),
  agent({}, { countersign: { expiresIn: 5 } }),
  agent({}, { countersign: { approvers: "requester" } }),
  agent({}, { countersign: { approvers: "anybody" } }),
  agent({}, { countersign: { approvers: {} } }),
  agent({}, { countersign: { approvers: { roles: ["ops"], users: ["ana"], notRequester: true } } }),
  agent({}, { countersign: { approvers: { roles: "ops" } } }),
  agent({}, { countersign: { approvers: { role: ["ops"] } } }),
  agent({}, { countersign: { approvers: { notRequester: "yes" } } }),
  agent({}, { countersign: { aprovers: "requester" } }),
  server({}),
  server({ toolNames: ["a", "b"], requireApproval: ["a"], allowedHeaders: ["x"], kind: "Service" }),
  server({ allowedHeaders: "x" }),
  server({ allowedHeaders: ["a b"] }),
  server({ toolNames: "a" }),
  server({ toolNames: [5] }),
  server({ requireAproval: [] }),
  server({ name: [] }),
  server({ countersign: { url: "http://localhost:9", transport: "sse", headers: { a: "b" } } }),
  server({ countersign: { url: "http://localhost:9", transport: "carrier pigeon" } }),
  server({ countersign: { command: "node", args: ["x"], env: { A: "1", B: 2 }, cwd: "x" } }),
  server({ countersign: { command: "node", args: "x" } }),
  server({ countersign: {} }),
  server({}, { headersFrom: [] }),
  server({}, { extra: 1 }),
  { ...agent({}), apiVersion: "v1" },
  { ...agent({}), kind: "Agnet" },
  { ...agent({}), metadata: {} },
  { ...agent({}), metadata: { name: "A b" } },
  { ...agent({}), metadata: { name: "a", namespace: "n", uid: "u", labels: {} } },
  { ...agent({}), metadata: { name: "a", nme: "n" } },
  { ...agent({}), status: {} },
  { ...agent({}), extra: 1 },
  { kind: "Agent" },
  { ...HEAD, spec: {} },
  config({}),
  config({ name: "a", model: "m", description: "d", stream: true, remote_agents: [] }),
  config({ remote_agents: [{ name: "b", url: "http://b.example", headers: { a: "b" }, timeout: 5 }] }),
  config({ remote_agents: [{ name: "b" }] }),
  config({ remote_agents: [{ name: "b", url: "b" }] }),
  config({ remote_agents: {} }),
  config({ name: "a b" }),
  config({ model: { type: "gemini", model: "m", base_url: "x" } }),
  config({ model: { type: "gemini" } }),
  config({ model: [] }),
  config({ countersign: { expiresIn: "1h" } }),
  config({ countersign: { expires: "1h" } }),
  { http_tools: [] },
  httpTools({}),
  httpTools({ tools: ["a"], require_approval: ["a"], allowed_headers: ["x"] }),
  httpTools({ tools: "a" }),
  httpTools({ params: {} }),
  httpTools({ requireApproval: ["a"] }),
  config({ sse_tools: [{ params: { url: "http://localhost:9", headers: { a: "b" }, timeout: 5 } }] }),
  config({ sse_tools: {} }),
  [],
  "text",
];

test.each(CORPUS.map((manifest) => [JSON.stringify(manifest), manifest] as const))(
  "the editor's schema and the reader agree on %s",
  (_, manifest) => {
    expect(checkSchema(SCHEMA, manifest).ok).toBe(problemsOf(manifest).length === 0);
  },
);

test("the corpus has both kinds", () => {
  const right = CORPUS.filter((manifest) => problemsOf(manifest).length === 0).length;
  expect(right).toBeGreaterThan(15);
  expect(CORPUS.length - right).toBeGreaterThan(25);
});

test.each<[string, JsonObject, string]>([
  [
    "a gate without its tool",
    server({ toolNames: ["a"], requireApproval: ["b"] }),
    "must also appear in toolNames",
  ],
  [
    "a server that is nowhere",
    agent({ tools: [{ type: "McpServer", mcpServer: { name: "y" } }] }),
    "there is no MCP server",
  ],
  [
    "an agent that is nowhere",
    agent({ tools: [{ type: "Agent", agent: { name: "b" } }] }),
    "there is no agent",
  ],
  ["a header of the connection's own", server({ allowedHeaders: ["Host"] }), "is set by the connection"],
  ["an address that is none", server({ countersign: { url: "here" } }), "is not a URL"],
])("only the reader can tell %s", (_, manifest, message) => {
  expect(checkSchema(SCHEMA, manifest)).toEqual({ ok: true });
  expect(problemsOf(manifest).join("\n")).toContain(message);
});
