import { expect, test } from "vitest";
import { boss, type GateServer, useGateServer } from "./gate-server.ts";

const startServer = useGateServer();

/** The answers of the server to these requests, after which its client leaves once all are there. */
async function talk(
  server: GateServer,
  requests: readonly object[],
  {
    args = [],
    meanwhile = async () => {},
  }: { args?: readonly string[]; meanwhile?: () => Promise<void> } = {},
): Promise<readonly { readonly result?: unknown; readonly error?: unknown }[]> {
  const lines = requests.map((request, id) => `${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
  const running = server.talk(["permission-prompt", ...args]);
  running.send(lines.join(""));
  await meanwhile();
  const answers = await running.lines(requests.length);
  running.leave();
  expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
  return answers
    .map((line) => JSON.parse(line) as { id: number; result?: unknown; error?: unknown })
    .toSorted((one, other) => one.id - other.id);
}

const ask = (command: string, id = "toolu_1", more: object = {}): object => ({
  method: "tools/call",
  params: {
    name: "approve",
    arguments: { tool_name: "Bash", input: { command }, tool_use_id: id, ...more },
  },
});

function said(answer: { readonly result?: unknown } | undefined): unknown {
  const { result } = answer as { result: { content: [{ text: string }] } };
  return JSON.parse(result.content[0].text);
}

test("speaks MCP, and lists its one tool", async () => {
  const server = await startServer();
  const hello = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "claude", version: "1" },
  };
  const [initialized, listed, unknown] = await talk(server, [
    { method: "initialize", params: hello },
    { method: "tools/list" },
    { method: "resources/list" },
  ]);
  expect(initialized).toMatchObject({
    result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } },
  });
  expect(listed).toMatchObject({ result: { tools: [{ name: "approve" }] } });
  expect(unknown).toMatchObject({ error: { code: -32_601 } });
});

test("asks a person even about what the policy allows, and gives the changed input", async () => {
  const server = await startServer();
  const [answer] = await talk(server, [ask("ls")], {
    meanwhile: () => server.approve({ command: "ls -l" }),
  });
  expect(said(answer)).toEqual({ behavior: "allow", updatedInput: { command: "ls -l" } });
});

test("with --trust-policy allows what the policy allows, and denies what it denies", async () => {
  const server = await startServer();
  const answers = await talk(server, [ask("ls", "toolu_1"), ask("git push -f", "toolu_2")], {
    args: ["--trust-policy"],
  });
  expect(answers.map(said)).toEqual([
    { behavior: "allow", updatedInput: { command: "ls" } },
    { behavior: "deny", message: expect.stringContaining("history is not rewritten") as string },
  ]);
});

test("with --trust-policy denies if the server has no policy", async () => {
  const server = await startServer({ policy: "none" });
  const [answer] = await talk(server, [ask("ls")], { args: ["--trust-policy"] });
  expect(said(answer)).toMatchObject({
    behavior: "deny",
    message: expect.stringContaining("This server has no policy") as string,
  });
});

test("denies with the person's reason, and what is not understood", async () => {
  const server = await startServer();
  const [denied, strange, other] = await talk(
    server,
    [
      ask("rm notes.txt"),
      ask("ls", "toolu_2", { sandbox: false }),
      { method: "tools/call", params: { name: "other", arguments: {} } },
    ],
    {
      meanwhile: async () => {
        const { id } = await server.question();
        await server.engine.deny(id, { by: boss, reason: "keep it" });
      },
    },
  );
  expect(said(denied)).toEqual({
    behavior: "deny",
    message: "The call was denied and did not run: keep it",
  });
  expect(strange).toMatchObject({ error: { message: 'The argument "sandbox" is not known.' } });
  expect(other).toMatchObject({ error: { message: "The only tool is approve." } });
});

test("denies if the server cannot be reached, or nobody decides in time", async () => {
  const server = await startServer();
  const [late] = await talk(server, [ask("ls")], { args: ["--wait", "1s"] });
  expect(said(late)).toMatchObject({ behavior: "deny" });
  await server.stop();
  const [down] = await talk(server, [ask("ls", "toolu_2")]);
  expect(said(down)).toMatchObject({
    behavior: "deny",
    message: expect.stringContaining("cannot be reached") as string,
  });
});
