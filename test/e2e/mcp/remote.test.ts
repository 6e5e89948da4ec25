import { type AuthProvider, ClientCredentialsProvider } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { serve } from "../../../src/http/node/index.ts";
import { Agent, createEngine } from "../../../src/index.ts";
import { McpEndpoint, McpGateway, type McpServer, McpToolset } from "../../../src/mcp/index.ts";
import { call, play, resultsIn, useRunners } from "../../seeds/scripted-runner.ts";
import { scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import { useResources } from "../../support/resources.ts";
import { everything, freePort, toolNamed } from "./gateway-process.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function open(
  server: McpServer,
  options: Partial<ConstructorParameters<typeof McpToolset>[0]> = {},
): McpToolset {
  const set = new McpToolset({ name: "remote", server, onWarning: () => {}, ...options });
  resources.add(() => set.close());
  return set;
}

describe.each([
  ["streamableHttp", "/mcp", "http"],
  ["sse", "/sse", "sse"],
] as const)("a server from npm over %s", (kind, path, transport) => {
  test.each([
    ["named", { transport }],
    ["found out", {}],
  ])("is listed, gated and called; the transport %s", async (_, given) => {
    const port = await freePort();
    await everything(kind, port);
    const set = open(
      { url: `http://127.0.0.1:${port}${path}`, ...given },
      { confirmation: { named: ["get-sum"] } },
    );
    const model = play([call("echo", { message: "hi" }), call("get-sum", { a: 2, b: 3 })], "Done.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [set] }) });
    const { pending } = await runner.send("go", ana);
    expect(pending).toMatchObject([{ tool: "get-sum", source: "remote" }]);
    const turn = await (await runner.approve(String(pending[0]?.id), byAna)).finished;
    expect(turn.text).toBe("Done.");
    expect(JSON.stringify(resultsIn(model.requests[1] as never))).toMatch(/Echo: hi.*5/);
  });
});

test.each([
  ["streamableHttp", "mcp"],
  ["sse", "sse"],
] as const)("a server that was started again is found again, over %s", async (kind, path) => {
  const port = await freePort();
  const first = await everything(kind, port);
  const set = open({ url: `http://127.0.0.1:${port}/${path}` });
  const model = play([call("echo", { message: "one" })], "One.", [call("echo", { message: "two" })], "Two.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [set] }) });
  expect((await runner.send("go", ana)).text).toBe("One.");
  await first.stop();
  await everything(kind, port);
  expect((await runner.send("go", { ...ana, session: "after" })).text).toBe("Two.");
  expect(resultsIn(model.requests[3] as never)).toEqual([{ text: "Echo: two" }]);
});

test("a server is offered nothing: it lists no tool that needs sampling, roots or elicitation", async () => {
  const port = await freePort();
  await everything("streamableHttp", port);
  const names = (await open({ url: `http://127.0.0.1:${port}/mcp` }).tools()).map(({ name }) => name);
  expect(names).toContain("echo");
  expect(names.filter((name) => /sampling|elicitation|roots/.test(name))).toEqual([]);
});

interface Site {
  readonly url: string;
  readonly seen: Headers[];
}

/** A server of ours over HTTP, behind a filter that sees each request first. */
async function site(
  tools: readonly object[],
  filter: (request: Request) => Response | undefined = () => undefined,
): Promise<Site> {
  const { server } = await scriptedPeer(await resources.folder(), tools);
  const engine = await createEngine({ ledger: "memory:" });
  const gateway = new McpGateway({ engine, name: "peer", server, require: [], by: { id: "ana" } });
  const endpoint = new McpEndpoint(gateway);
  const seen: Headers[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    seen.push(request.headers);
    return filter(request) ?? endpoint.fetch(request);
  };
  const listening = await serve({ app: { fetch }, port: 0 });
  resources.add(async () => {
    await gateway.close();
    await endpoint.close();
    await listening.close({ graceMs: 0 });
    await engine.close();
  });
  return { url: `${listening.url}/mcp`, seen };
}

test("a change of the tools is heard over HTTP too", async () => {
  const { url } = await site([toolNamed("pay"), toolNamed("mutate")]);
  const set = open({ url });
  const description = async () => (await set.tools()).find(({ name }) => name === "pay")?.description;
  expect(await description()).toBe("Does pay.");
  const runner = makeRunner({
    agent: new Agent({ name: "a", model: play([call("mutate")], "Done."), tools: [set] }),
  });
  await runner.send("go", ana);
  await expect.poll(description, { timeout: 20_000 }).toBe("Does pay. And more.");
});

test("the headers that were given are sent with every request, and shown to nobody", async () => {
  const { url, seen } = await site([toolNamed("pay")]);
  const set = open({ url, headers: { "x-team": "secret-team" } }, { confirmation: "all" });
  const runner = makeRunner({
    agent: new Agent({ name: "a", model: play([call("pay")], "Done."), tools: [set] }),
  });
  const { pending } = await runner.send("go", ana);
  expect(seen.every((headers) => headers.get("x-team") === "secret-team")).toBe(true);
  expect(JSON.stringify(pending)).not.toContain("secret-team");
});

const refused = new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });

test("an expired bearer token is fetched again, and the call continues", async () => {
  let valid = "one";
  const filter = ({ headers }: Request) =>
    headers.get("authorization") === `Bearer ${valid}` ? undefined : refused.clone();
  const { url } = await site([toolNamed("pay")], filter);
  let token = "one";
  const authProvider: AuthProvider = {
    token: async () => token,
    onUnauthorized: async () => {
      token = valid;
    },
  };
  const set = open({ url, authProvider, transport: "http" });
  const model = play([call("pay")], "Done.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [set] }) });
  await set.tools();
  valid = "two";
  expect((await runner.send("go", ana)).text).toBe("Done.");
  expect(resultsIn(model.requests[1] as never)).toEqual([{ text: "did pay" }]);
});

test("the SDK's OAuth provider gets its token from the server's own authority", async () => {
  const granted: string[] = [];
  const filter = (request: Request): Response | undefined => {
    const { origin, pathname } = new URL(request.url);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith("/.well-known/")) {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      });
    }
    if (pathname === "/token") {
      granted.push(request.headers.get("authorization") ?? "");
      return Response.json({ access_token: "granted", token_type: "Bearer", expires_in: 3600 });
    }
    return request.headers.get("authorization") === "Bearer granted" ? undefined : refused.clone();
  };
  const { url } = await site([toolNamed("pay")], filter);
  const { origin: expectedIssuer } = new URL(url);
  const authProvider = new ClientCredentialsProvider({
    clientId: "us",
    clientSecret: "ours",
    expectedIssuer,
  });
  const set = open({ url, authProvider, transport: "http" });
  expect((await set.tools()).map(({ name }) => name)).toEqual(["pay"]);
  expect(granted).toEqual([`Basic ${Buffer.from("us:ours").toString("base64")}`]);
});
