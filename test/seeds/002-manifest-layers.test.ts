// Layers 1 to 4 of the document: the manifest, the agent config, that one says what the other does, and the wiring.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadManifest, type ManifestAgent } from "../../src/manifest/index.ts";
import { everything, freePort } from "../e2e/mcp/gateway-process.ts";
import { call, play, resultsIn, useRunners } from "./scripted-runner.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;

function load(name: string, text: string): ManifestAgent {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  const [made] = loadManifest(file, { model: script });
  if (made === undefined) throw new Error("no agent");
  onTestFinished(() => made.close());
  return made;
}

let script = play("");

/** Calls both tools; what was asked, and what ran at once. */
async function callBoth(
  make: () => ManifestAgent,
): Promise<{ readonly asked: unknown; readonly ran: string }> {
  script = play([call("echo", { message: "hi" }), call("get-sum", { a: 2, b: 3 })], "Done.");
  const { agent } = make();
  const runner = makeRunner({ agent });
  const { pending } = await runner.send("go", ana);
  for (const { id } of pending) await (await runner.deny(id, { by: { id: "ana" } })).finished;
  return {
    asked: pending.map(({ tool, why }) => ({ tool, why })),
    ran: JSON.stringify(resultsIn(script.requests[1] as never)),
  };
}

const manifest = (server: string): string => `apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata:
  name: file-manager
spec:
  type: Declarative
  declarative:
    systemMessage: "You help users manage files."
    tools:
    - type: McpServer
      mcpServer:
        name: filesystem-server
        toolNames:
          - echo
          - get-sum
        requireApproval:
          - get-sum
${server}`;

test("layer 1: each name in requireApproval must be in toolNames, in the words of the resource's own rule", () => {
  const text = manifest("").replace("- echo\n          - get-sum", "- echo");
  expect(() => load("file-manager.yaml", text)).toThrow(
    "each requireApproval entry must also appear in toolNames",
  );
});

const PLACES = {
  http: { mode: "streamableHttp", path: "/mcp", list: "http_tools", protocol: "STREAMABLE_HTTP" },
  sse: { mode: "sse", path: "/sse", list: "sse_tools", protocol: "SSE" },
} as const;

describe.each(["http", "sse"] as const)("over %s", (kind) => {
  const { mode, path, list, protocol } = PLACES[kind];

  test("layers 2 to 4: the manifest and its translation gate the same tool of the same server, and only that", async () => {
    const port = await freePort();
    await everything(mode, port);
    const url = `http://127.0.0.1:${port}${path}`;
    const remote = `---
apiVersion: kagent.dev/v1alpha2
kind: RemoteMCPServer
metadata: { name: filesystem-server }
spec: { url: "${url}", protocol: ${protocol} }
`;
    const config = {
      model: { type: "gemini", model: "gemini-2.0-flash" },
      instruction: "You help users manage files.",
      [list]: [{ params: { url }, tools: ["echo", "get-sum"], require_approval: ["get-sum"] }],
    };
    const declared = await callBoth(() => load("file-manager.yaml", manifest(remote)));
    // The model is the test's: the config names another.
    const { model: _model, ...rest } = config;
    const translated = await callBoth(() => load("config.json", JSON.stringify(rest)));
    expect(declared.asked).toMatchObject([{ tool: "get-sum", why: [expect.stringContaining("manifest")] }]);
    expect(translated.asked).toEqual(declared.asked);
    for (const { ran } of [declared, translated]) expect(ran).toMatch(/Echo: hi.*rejected by the user/);
    expect(load("whole.json", JSON.stringify(config)).agent.model).toBe("gemini-2.0-flash");
  });
});

test("layer 4: the gates of several servers are collected, each for its own", async () => {
  const port = await freePort();
  await everything("streamableHttp", port);
  const params = { url: `http://127.0.0.1:${port}/mcp` };
  const config = {
    instruction: "You help users manage files.",
    http_tools: [
      { params, tools: ["echo"], require_approval: ["echo"] },
      { params, tools: ["get-sum"], require_approval: ["get-sum"] },
    ],
  };
  const { asked } = await callBoth(() => load("config.json", JSON.stringify(config)));
  expect(asked).toMatchObject([{ tool: "echo" }, { tool: "get-sum" }]);
});
