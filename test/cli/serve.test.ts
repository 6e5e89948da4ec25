import { createServer as createHttpServer, type IncomingHttpHeaders } from "node:http";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Folder, makeFolder, type Started } from "../support/processes/command-line.ts";
import { askToPay, writePayer } from "./payer.ts";

interface Announced {
  readonly url: string;
  readonly apps: readonly string[];
  readonly broken: readonly { readonly app: string; readonly reason: string }[];
  readonly ledger: string;
  readonly auth: string;
  readonly signed: boolean;
  readonly loginLink?: string;
  readonly webhookSecret?: string;
}

const GREETER = `
import { Agent } from "countersign";
import { scripted } from "countersign/models/scripted";
export const root_agent = new Agent({ name: "Greeter", model: scripted(() => "Hello") });
`;

async function announced(server: Started, line = 1): Promise<Announced> {
  const lines = new RegExp(`(\\{"url".*\\n[^]*){${line}}`);
  const printed = await server.until(lines);
  return JSON.parse(
    printed.split("\n").filter((text) => text.startsWith(`{"url"`))[line - 1] ?? "",
  ) as Announced;
}

async function listApps(url: string): Promise<unknown> {
  const response = await fetch(`${url}/list-apps`);
  return response.json();
}

const OIDC = ["--auth", "oidc", "--oidc-audience", "api", "--oidc-issuer"];

test("every folder with an agent is served under its name, on the ledger that was named", async () => {
  const folder = makeFolder();
  writePayer(folder);
  folder.write("agents/greeter/agent.mjs", GREETER);
  folder.write("agents/notes/readme.md", "no agent here");
  const server = folder.start(["serve", "agents", "--port", "0", "--db", "sqlite:own.db", "--json"]);
  const site = await announced(server);
  expect(site).toMatchObject({
    apps: ["greeter", "payer"],
    broken: [],
    ledger: "sqlite:own.db",
    auth: "none",
    signed: false,
  });
  expect(site.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await listApps(site.url)).toEqual(["greeter", "payer"]);
  expect(folder.read("own.db")).not.toBe("");
  server.signal("SIGTERM");
  expect(await server.ended()).toMatchObject({ code: 0 });
});

test("a file is an agent, a folder with an agent is one, and both can be named at once", async () => {
  const folder = makeFolder();
  writePayer(folder);
  folder.write("greeter.ts", GREETER);
  const server = folder.start(["serve", "greeter.ts", "agents/payer", "--port", "0", "--json"]);
  expect((await announced(server)).apps).toEqual(["greeter", "payer"]);
});

test("the environment names what no flag does", async () => {
  const folder = makeFolder();
  writePayer(folder);
  const env = { COUNTERSIGN_PORT: "0", COUNTERSIGN_DB: "sqlite:env.db", COUNTERSIGN_SECRET: "s".repeat(40) };
  const server = folder.start(["serve", "agents", "--json"], env);
  expect(await announced(server)).toMatchObject({ ledger: "sqlite:env.db", signed: true });
});

test("with --auth local a link to log in is printed, and the API needs it", async () => {
  const folder = makeFolder();
  writePayer(folder);
  const server = folder.start(["serve", "agents", "--port", "0", "--auth", "local", "--json"]);
  const { url, loginLink = "" } = await announced(server);
  expect(loginLink.startsWith(`${url}/`)).toBe(true);
  expect((await fetch(`${url}/list-apps`)).status).toBe(401);
});

function refused(folder: Folder, args: readonly string[], env?: NodeJS.ProcessEnv): string {
  const { code, stdout, stderr } = folder.run(["serve", ...args], env);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^countersign: [^\n]* \[(invalid-option|malformed-request)\]\n$/);
  return stderr;
}

describe("a server that cannot start says why in one line, and exits 2", () => {
  test.each([
    [
      "throws",
      "throw new Error('no such bank');",
      /agents\/bad\/agent\.ts: Error: no such bank \(agents\/bad\/agent\.ts:1\)/,
    ],
    [
      "is no code",
      "export const a = 1;\nexport const = ;",
      /agents\/bad\/agent\.ts: SyntaxError: .* \(agents\/bad\/agent\.ts:2\)/,
    ],
    [
      "has syntax that types cannot be stripped from",
      "export const a = 1;\n\nenum Bad { A }",
      /agents\/bad\/agent\.ts: SyntaxError: .* \(agents\/bad\/agent\.ts:3\)/,
    ],
    [
      "imports what is not there",
      `import "nowhere";`,
      /agents\/bad\/agent\.ts: Error: Cannot find package 'nowhere'/,
    ],
    ["exports something else", "export const agent = 1;", /does not export `rootAgent`\. It exports agent\./],
    [
      "exports another's agent",
      "export const rootAgent = { name: 'x' };",
      /is not a Countersign agent\. .*"countersign"/,
    ],
  ])("an agent that %s", (_, code, message) => {
    const folder = makeFolder();
    writePayer(folder);
    folder.write("agents/bad/agent.ts", code);
    expect(refused(folder, ["agents"])).toMatch(message);
  });

  test("a folder without agents, or none at all", () => {
    const folder = makeFolder();
    folder.write("empty/notes.md", "");
    expect(refused(folder, ["empty"])).toContain('"empty" has no agent');
    expect(refused(folder, [])).toContain('"." has no agent');
    expect(refused(folder, ["nowhere"])).toContain('"nowhere" does not exist.');
    expect(refused(folder, ["empty/notes.md"])).toContain("is not a .ts");
  });

  test("two agents of one name", () => {
    const folder = makeFolder();
    folder.write("a/same/agent.ts", GREETER);
    folder.write("b/same/agent.ts", GREETER);
    expect(refused(folder, ["a", "b"])).toContain('Two agents have the name "same"');
  });

  test("a port that is taken, told with how to choose another", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      other.close();
    });
    await new Promise((resolve) => other.once("listening", resolve));
    const address = other.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const message = refused(folder, ["agents", "--port", port]);
    expect(message).toContain(`Port ${port} on 127.0.0.1 is in use`);
    expect(message).toContain("--port N");
  });

  test.each([
    [["--host", "0.0.0.0"], "on loopback only"],
    [["--port", "eighty"], 'Invalid --port "eighty". Use a number from 0 to 65535.'],
    [["--port", "65536"], "Use a number from 0 to 65535."],
    [["--auth", "password"], 'Invalid --auth "password". Use one of none, local, tokens, oidc.'],
    [["--auth", "oidc"], "--auth oidc needs --oidc-issuer URL"],
    [
      [...OIDC, "https://id.test", "--oidc-default-scopes", "read,root"],
      'Unknown scope "root" in --oidc-default-scopes. The scopes are run, read',
    ],
    [[...OIDC, "https://id.test", "--oidc-login-age", "soon"], "--oidc-login-age"],
    [[...OIDC, "http://id.test"], "is not https"],
    [["--db", "mysql://x"], 'there is no store "mysql:"'],
    [["--public-url", "example.com"], "starts with http:// or https://"],
    [["--allow-origin", "https://a.example/path"], "without a path"],
    [["--trust-proxy", "all"], 'Invalid --trust-proxy "all". Use a number from 0 to 10.'],
    [["--prot", "1"], "Did you mean --port?"],
  ])("%j", (args, message) => {
    const folder = makeFolder();
    writePayer(folder);
    expect(refused(folder, ["agents", ...args])).toContain(message);
  });

  test("a server without a login for a ledger that has one", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const server = folder.start(["serve", "agents", "--port", "0", "--auth", "tokens"]);
    await server.until("Countersign is running at");
    server.signal("SIGTERM");
    await server.ended();
    const { code, stderr } = folder.run(["serve", "agents", "--port", "0"]);
    expect(code).toBe(5);
    expect(stderr).toContain("--break-glass");
  });
});

describe("--dev", () => {
  test("reports what is broken and serves the rest; a change restarts on the same port, and open confirmations survive", async () => {
    const folder = makeFolder();
    writePayer(folder);
    const id = askToPay(folder, 3);
    folder.write("agents/greeter/agent.ts", "export const rootAgent = ;");
    const server = folder.start(["serve", "agents", "--port", "0", "--json", "--dev"]);
    const first = await announced(server);
    expect(first.apps).toEqual(["payer"]);
    expect(first.broken).toMatchObject([
      { app: "greeter", reason: expect.stringContaining("SyntaxError") as string },
    ]);
    await server.until(/not served: agents\/greeter\/agent\.ts: SyntaxError/);
    folder.write("agents/greeter/agent.ts", GREETER);
    const second = await announced(server, 2);
    expect(second).toMatchObject({ url: first.url, apps: ["greeter", "payer"], broken: [] });
    expect(await listApps(second.url)).toEqual(["greeter", "payer"]);
    folder.write("go", "");
    const approved = folder.run(["approve", id, "--wait", "20"]);
    expect(approved.stdout).toContain(`{"paid":3}`);
    server.signal("SIGTERM");
    expect(await server.ended()).toMatchObject({ code: 0 });
  });

  test("ends its server when it is killed itself", async () => {
    const folder = makeFolder();
    folder.write("agents/greeter/agent.ts", GREETER);
    const server = folder.start(["serve", "agents", "--port", "0", "--json", "--dev"]);
    const { url } = await announced(server);
    server.signal("SIGKILL");
    // Both outputs are the server's too: they close when it has ended.
    expect((await server.ended()).printed).toContain("Stopped.");
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test.skipIf(process.platform !== "linux")("in a terminal Ctrl-C ends it in good order", async () => {
    const folder = makeFolder();
    folder.write("agents/greeter/agent.ts", GREETER);
    const terminal = folder.terminal(["serve", "agents", "--port", "0", "--dev"]);
    await terminal.until("signed");
    terminal.type("\u0003");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain("Stopped.");
  });

  test("waits for a change where nothing can be served, and ends when it is told to", async () => {
    const folder = makeFolder();
    folder.write("agents/greeter/agent.ts", "throw new Error('not yet');");
    const server = folder.start(["serve", "agents", "--port", "0", "--json", "--dev"]);
    await server.until("Waiting for a file change");
    folder.write("agents/greeter/agent.ts", GREETER);
    expect((await announced(server)).apps).toEqual(["greeter"]);
    server.signal("SIGINT");
    expect(await server.ended()).toMatchObject({ code: 0 });
  });
});

test("with --webhook a pause is sent, signed, with a link to its card", async () => {
  const folder = makeFolder();
  writePayer(folder);
  const { promise: told, resolve } = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: string }>();
  const hook = createHttpServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      response.end();
      resolve({ headers: request.headers, body });
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    hook.close();
  });
  await new Promise((listening) => hook.once("listening", listening));
  const address = hook.address();
  const port = typeof address === "object" ? address?.port : 0;
  const webhook = `http://127.0.0.1:${port}/hook`;
  const server = folder.start(["serve", "agents", "--port", "0", "--webhook", webhook, "--json"]);
  const { url, webhookSecret } = await announced(server);
  expect(webhookSecret).toMatch(/^whsec_/);
  const id = askToPay(folder, 9);
  const { headers, body } = await told;
  expect(headers["webhook-signature"]).toMatch(/^v1,/);
  expect(body).toContain(`${url}/#/confirmations/${id}`);
  server.signal("SIGTERM");
  expect(await server.ended()).toMatchObject({ code: 0 });
});

test.each([["--trust-proxy", "1"], []])(
  "callers behind a proxy are told apart as %s says",
  async (...flags) => {
    const folder = makeFolder();
    writePayer(folder);
    const env = flags.length > 0 ? {} : { COUNTERSIGN_TRUST_PROXY: "1" };
    const server = folder.start(["serve", "agents", "--port", "0", "--auth", "tokens", ...flags], env);
    const words = await server.until(/http:\/\/127\.0\.0\.1:\d+/);
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(words) ?? [];
    const fail = async (from: string): Promise<number> => {
      const headers = { authorization: "Bearer wrong", "x-forwarded-for": from };
      return (await fetch(`${url}/v1/me`, { headers })).status;
    };
    for (let time = 0; time < 30; time++) expect(await fail(`198.51.100.${time}, 192.0.2.1`)).toBe(401);
    expect(await fail("203.0.113.1, 192.0.2.1")).toBe(429);
    expect(await fail("192.0.2.1, 192.0.2.2")).toBe(401);
    server.signal("SIGTERM");
    await server.ended();
  },
);
