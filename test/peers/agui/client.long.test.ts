import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { startApprovalsServer } from "../../e2e/approvals/approvals-server.ts";
import { useResources } from "../../support/resources.ts";

// AG-UI's client in the version that CopilotKit pins. It runs below CopilotKit's components, and keeps what waits for them.

const resources = useResources();
const INSTALL_MS = 900_000;

interface Client {
  readonly HttpAgent: typeof import("@ag-ui/client").HttpAgent;
}

test("the client of CopilotKit shows a gated call as an interrupt, and its answer lets it run once", {
  timeout: INSTALL_MS,
}, async () => {
  const file = join(ensurePeer("agui"), "node_modules", "@ag-ui", "client", "dist", "index.mjs");
  const { HttpAgent } = (await import(pathToFileURL(file).href)) as Client;
  const server = await startApprovalsServer(resources);
  const agent = new HttpAgent({
    url: "http://127.0.0.1/agui/bank",
    threadId: "t1",
    headers: { authorization: "ana" },
    fetch: (url, init) => server.app.fetch(new Request(url, init)),
  });
  agent.addMessage({ id: "m1", role: "user", content: "pay 5" });
  await agent.runAgent();
  expect(agent.pendingInterrupts).toMatchObject([{ reason: "tool_call", metadata: { tool: "pay" } }]);
  expect(server.done).toEqual([]);
  const [{ id: interruptId } = { id: "" }] = agent.pendingInterrupts;
  await agent.runAgent({ resume: [{ interruptId, status: "resolved", payload: { approved: true } }] });
  expect(agent.pendingInterrupts).toEqual([]);
  expect(server.done).toEqual([{ tool: "pay", args: { amount: 5 } }]);
  expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});
