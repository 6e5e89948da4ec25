import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { JsonObject } from "../../../src/protocol/index.ts";
import type { AdapterHost, ModelCall, Progress, World } from "../contract/subject.ts";
import type { AloneSubject } from "./alone.ts";

/** MCP's own pause: a tool that returns `inputRequired`, and runs when the client calls again with the person's answer. */
export const mcpServerAlone: AloneSubject = {
  name: "mcp-server alone",
  of: "mcp-server with ids",
  open: (world) => hostOf(world),
};

const INPUT = z.object({ amount: z.number(), hang: z.boolean().optional() });
const CONFIRM = z.object({ confirm: z.boolean() });
const ACCEPTED = { confirm: { action: "accept", content: { confirm: true } } };

function serverOf(world: World): McpServer {
  const server = new McpServer({ name: "shop", version: "1" });
  const { description } = world;
  server.registerTool("pay", { description, inputSchema: INPUT }, async (args, context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, "confirm", CONFIRM);
    if (answer?.confirm !== true) {
      const confirm = inputRequired.elicit({ message: "Pay?", requestedSchema: CONFIRM });
      return inputRequired({ inputRequests: { confirm } });
    }
    return { content: [{ type: "text", text: JSON.stringify(await world.pay(args as JsonObject)) }] };
  });
  server.registerTool("note", { inputSchema: z.object({ text: z.string() }) }, async (args) => {
    return { content: [{ type: "text", text: JSON.stringify(args) }] };
  });
  return server;
}

function hostOf(world: World): AdapterHost {
  const handler = createMcpHandler(() => serverOf(world));
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    handler.fetch(new Request(url, init));
  const call = async (calls: readonly ModelCall[], answers: object): Promise<Progress> => {
    const client = new Client(
      { name: "agent", version: "1" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL("http://shop.test/mcp"), { fetch }));
    const told: Record<string, string> = {};
    let waits = false;
    for (const { id, tool: name, args } of calls) {
      const params = { name, arguments: args, ...answers };
      const result: object = await client.callTool(params, { allowInputRequired: true });
      if ("resultType" in result && result.resultType === "input_required") waits = true;
      else told[id] = JSON.stringify(result);
    }
    await client.close();
    return { state: JSON.stringify(calls), status: waits ? "paused" : "done", told };
  };
  const approve = (state: string): Promise<Progress> =>
    call(JSON.parse(state) as readonly ModelCall[], { inputResponses: ACCEPTED });
  return {
    send: (calls) => call(calls, {}),
    resume: approve,
    forge: approve,
    cancel: async () => 0,
  };
}
