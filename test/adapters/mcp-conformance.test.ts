import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { completable as firstCompletable } from "@modelcontextprotocol/sdk/server/completable.js";
import {
  McpServer as FirstServer,
  ResourceTemplate as FirstTemplate,
} from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport as FirstTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  completable,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type GateableServer, gateServer } from "../../src/adapters/mcp-server/index.ts";
import { toNodeHandler } from "../../src/http/node/index.ts";
import { createEngine, type Engine } from "../../src/index.ts";
import { approveAll, conform, failed, type Outcomes } from "../support/mcp/conformance.ts";
import { type Filled, fill, type Running, TOOLS } from "../support/mcp/own-server.ts";
import { useResources } from "../support/resources.ts";

// MCP's own suite against a server that somebody wrote with the SDK, without the gate and with it.

const resources = useResources();
const TIMEOUT = 180_000;
const CAPABILITIES = { logging: {}, completions: {}, resources: { subscribe: true } };
const INFO = { name: "own", version: "1" };

interface Transport {
  readonly sessionId?: string | undefined;
  handleRequest(request: Request): Promise<Response>;
}

interface Sdk {
  readonly name: string;
  readonly server: (gate: (server: GateableServer) => void) => GateableServer;
  readonly transport: (opened: (id: string) => void) => Transport;
}

const sessionIdGenerator = (): string => crypto.randomUUID();

interface FirstContext {
  readonly _meta?: { readonly progressToken?: string | number };
  readonly sendNotification: (notification: object) => Promise<void>;
  readonly sendRequest: (request: object, schema: z.ZodType) => Promise<Awaited<ReturnType<Running["ask"]>>>;
}

const SDKS: readonly Sdk[] = [
  {
    name: "@modelcontextprotocol/sdk",
    server: (gate) => {
      const server = new FirstServer(INFO, { capabilities: CAPABILITIES });
      for (const schema of [SubscribeRequestSchema, UnsubscribeRequestSchema, SetLevelRequestSchema])
        server.server.setRequestHandler(schema, () => ({}));
      gate(server);
      fill(server as unknown as Filled, {
        runningOf: ({ _meta, sendNotification, sendRequest }: FirstContext) => ({
          progressToken: _meta?.progressToken,
          notify: (method, params) => sendNotification({ method, params }),
          ask: (method, params) => sendRequest({ method, params }, z.looseObject({})),
        }),
        template: (uri) => new FirstTemplate(uri, { list: undefined }),
        fromJsonSchema: undefined,
        completable: firstCompletable,
      });
      return server;
    },
    transport: (opened) => new FirstTransport({ sessionIdGenerator, onsessioninitialized: opened }),
  },
  {
    name: "@modelcontextprotocol/server",
    server: (gate) => {
      const server = new McpServer(INFO, { capabilities: CAPABILITIES });
      for (const method of ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"] as const)
        server.server.setRequestHandler(method, () => ({}));
      gate(server);
      fill(server as unknown as Filled, {
        runningOf: ({ mcpReq: { _meta: meta, ...mcpReq } }: ServerContext) => ({
          progressToken: meta?.progressToken,
          notify: (method, params) => mcpReq.notify({ method, params } as never),
          ask: (method, params) => mcpReq.send({ method, params } as never) as never,
        }),
        template: (uri) => new ResourceTemplate(uri, { list: undefined }),
        fromJsonSchema: (schema) => fromJsonSchema(schema),
        completable,
      });
      return server;
    },
    transport: (opened) =>
      new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator, onsessioninitialized: opened }),
  },
];

/** The address of a server that makes an `McpServer` for each session. */
async function listen({ server, transport }: Sdk, gate: (server: GateableServer) => void): Promise<string> {
  const sessions = new Map<string, Transport>();
  let port = 0;
  const fetch = async (request: Request): Promise<Response> => {
    // As the SDK advises for servers on one's own machine.
    const own = [`127.0.0.1:${port}`, `localhost:${port}`];
    const origin = request.headers.get("origin");
    if (!own.includes(request.headers.get("host") ?? "")) return new Response(null, { status: 403 });
    if (origin !== null && !own.includes(new URL(origin).host)) return new Response(null, { status: 403 });
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request);
    const made = transport((id) => sessions.set(id, made));
    await server(gate).connect(made as never);
    return made.handleRequest(request);
  };
  const listening = createServer(toNodeHandler({ fetch }));
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  resources.add(
    () =>
      new Promise<void>((resolve) => {
        listening.close(() => resolve());
        listening.closeAllConnections();
      }),
  );
  ({ port } = listening.address() as AddressInfo);
  return `http://127.0.0.1:${port}/mcp`;
}

async function outcomesOf(sdk: Sdk, gate: (server: GateableServer) => void): Promise<Outcomes> {
  return conform(await listen(sdk, gate), await resources.folder());
}

function gated(engine: Engine): (server: GateableServer) => void {
  const rules = Object.fromEntries(Object.keys(TOOLS).map((name) => [name, true as const]));
  return (server) => {
    gateServer(server, { engine, app: "own", identify: () => ({ thread: "suite", user: "suite" }), rules });
  };
}

describe.each(SDKS)("a server of $name", { timeout: TIMEOUT }, (sdk) => {
  test("whose tools are all gated has the same results as without the gate, if a person says yes", async () => {
    const engine = await createEngine({ ledger: "memory:" });
    resources.add(() => engine.close());
    const { approved, stop } = approveAll(engine);
    resources.add(stop);
    const alone = await outcomesOf(sdk, () => {});
    expect(Object.keys(alone).length).toBeGreaterThan(25);
    expect(failed(alone)).toEqual([]);
    expect(await outcomesOf(sdk, gated(engine))).toEqual(alone);
    expect(approved()).toBeGreaterThan(8);
  });
});
