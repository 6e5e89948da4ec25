import { afterAll, beforeAll, expect, test } from "vitest";
import { portIn, sendTo } from "../support/http/send-to.ts";
import { PgBouncer } from "../support/postgres/pgbouncer.ts";
import { databaseName, execute, PostgresServer } from "../support/postgres/server.ts";
import { type Folder, makeFolder, type Started } from "../support/processes/command-line.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const REPLICAS = 10;
const LONG_MS = 120_000;
const SCHEMAS = "select count(*)::integer as found from pg_namespace where nspname = 'countersign'";
const LISTENING =
  "select count(*)::integer as found from pg_stat_activity where datname = current_database() and query = 'listen countersign'";

const AGENT = `
import { Agent } from "countersign";
import { scripted } from "countersign/models/scripted";
export const rootAgent = new Agent({ name: "Greeter", model: scripted(() => "Hello") });
`;

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
}, LONG_MS);

afterAll(() => server.stop(), LONG_MS);

async function createDatabase(): Promise<string> {
  const name = databaseName();
  await execute(server.url("postgres"), `create database ${name}`);
  return server.url(name);
}

function makeServed(): Folder {
  const folder = makeFolder();
  folder.write("agents/greeter/agent.mjs", AGENT);
  return folder;
}

async function urlOf(started: Started): Promise<string> {
  const printed = await started.until(/\{"url".*\n/);
  const line = printed.split("\n").find((text) => text.startsWith(`{"url"`)) ?? "";
  return (JSON.parse(line) as { readonly url: string }).url;
}

async function schemasIn(url: string): Promise<unknown> {
  return (await execute(url, SCHEMAS))[0]?.rows;
}

test(
  "a server refuses a database without the schema, and a dry run says what would be done; neither does it",
  async () => {
    const folder = makeServed();
    const url = await createDatabase();
    const refused = folder.run(["serve", "agents", "--port", "0", "--db", url]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 6, stdout: "" });
    expect(refused.stderr).toMatch(
      /^countersign: .*`countersign migrate`.*`countersign serve --migrate`.*\[ledger-older\]\n$/,
    );
    const dry = folder.run(["migrate", "--dry-run", "--db", url]);
    expect(dry.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /^postgres:\/\/postgres:…@.* would be created with schema \d+\. $/,
    );
    const misspelt = folder.run(["serve", "agents", "--db", url], { COUNTERSIGN_MIGRATE: "yes" });
    expect(misspelt).toMatchObject({ code: 2, stdout: "" });
    expect(misspelt.stderr).toContain('COUNTERSIGN_MIGRATE is "yes". Use true or false.');
    expect(await schemasIn(url)).toEqual([{ found: 0 }]);
  },
  LONG_MS,
);

test(
  "ten servers that start at once with --migrate on an empty database all serve, and tell of their connections",
  async () => {
    const folder = makeServed();
    const url = await createDatabase();
    const replicas = Array.from({ length: REPLICAS }, (_, i) => {
      const args = ["serve", "agents", "--port", "0", "--json", "--db", `${url}?pool=3`];
      return i % 2 === 0
        ? folder.start([...args, "--migrate"])
        : folder.start(args, { COUNTERSIGN_MIGRATE: "true" });
    });
    const urls = await Promise.all(replicas.map(urlOf));
    expect(new Set(urls).size).toBe(REPLICAS);
    for (const each of urls) expect((await fetch(`${each}/readyz`)).status).toBe(200);
    expect(await schemasIn(url)).toEqual([{ found: 1 }]);
    const told = await (await fetch(`${urls[0]}/metrics`)).text();
    expect(told).toContain("\ncountersign_ledger_connections_limit 3\n");
    expect(told).toMatch(/\ncountersign_ledger_connections\{state="idle"\} [0-3]\n/);
    expect(told).toMatch(/\ncountersign_ledger_statements_total [1-9]\d*\n/);
    expect(told).toContain('\ncountersign_ledger_retries_total{reason="connection"} 0\n');
    for (const replica of replicas) replica.signal("SIGTERM");
    for (const replica of replicas) expect(await replica.ended()).toMatchObject({ code: 0 });
  },
  LONG_MS,
);

test(
  "behind a pooler in transaction mode, serve listens past it, and doctor says so where it cannot",
  async () => {
    const folder = makeServed();
    const url = await createDatabase();
    expect(folder.run(["migrate", "--db", url]).code).toBe(0);
    const { url: pooled } = await PgBouncer.start(resources, url, { connections: 20 });
    const env = { COUNTERSIGN_LISTEN_URL: url };
    const delayed = /up to two\s+seconds later/;
    expect(folder.run(["doctor", "--db", pooled]).stdout).toMatch(delayed);
    expect(folder.run(["doctor", "--db", pooled], env).stdout).not.toMatch(delayed);
    const started = folder.start(["serve", "agents", "--port", "0", "--json", "--db", pooled], env);
    await urlOf(started);
    const listening = async (): Promise<unknown> => (await execute(url, LISTENING))[0]?.rows;
    await expect.poll(listening, { timeout: 20_000 }).toEqual([{ found: 1 }]);
    started.signal("SIGTERM");
    await started.ended();
  },
  LONG_MS,
);

test(
  "tenants in schemas of one database are created, served, checked, suspended and erased by commands",
  async () => {
    const folder = makeServed();
    const { password, ...place } = splitPassword(await createDatabase());
    const env = { PGPASSWORD: password, COUNTERSIGN_REGISTRY: place.url };
    const run = (...args: readonly string[]) => folder.run(args, env);
    const ledgerOf = (name: string): string => `${place.url}?schema=countersign_${name}&pool=2`;
    for (const name of ["acme", "globex"])
      expect(run("tenants", "create", name, "--ledger", ledgerOf(name))).toMatchObject({ code: 0 });
    const findings = run("doctor", "--db", ledgerOf("acme"));
    expect(findings.stdout).toMatch(/schema +version \d+ \(newest\)/);
    expect(run("doctor", "--db", ledgerOf("initech")).stdout).toContain("no ledger at this URL");
    expect(run("migrate", "--db", ledgerOf("acme")).stdout).toContain("Nothing to do");
    const started = folder.start(
      ["serve", "agents", "--port", "0", "--json", "--public-url", "http://{tenant}.localhost"],
      env,
    );
    const port = portIn(await started.until(/\{"url".*\n/));
    const ask = (tenant: string, path: string, body?: object) =>
      sendTo(port, { path, body, headers: { host: `${tenant}.localhost` } });
    const call = { app: "shop", tool: "refund", args: {}, key: "k1", requireConfirmation: true };
    expect((await ask("acme", "/v1/calls", call)).status).toBe(200);
    expect((await ask("acme", "/v1/calls/k1")).text).toContain('"pending"');
    expect((await ask("globex", "/v1/calls/k1")).status).toBe(404);
    expect(run("tenants", "suspend", "acme").code).toBe(0);
    await expect.poll(async () => (await ask("acme", "/v1/me")).status, { timeout: 10_000 }).toBe(403);
    expect(run("tenants", "erase", "acme", "--confirm", "acme").code).toBe(0);
    await expect.poll(async () => (await ask("acme", "/v1/me")).status, { timeout: 10_000 }).toBe(404);
    expect((await ask("globex", "/v1/me")).status).toBe(200);
    expect(run("audit", "verify", "--db", ledgerOf("globex")).code).toBe(0);
    started.signal("SIGTERM");
    expect(await started.ended()).toMatchObject({ code: 0 });
  },
  2 * LONG_MS,
);

function splitPassword(url: string): { readonly url: string; readonly password: string } {
  const parsed = new URL(url);
  const { password } = parsed;
  parsed.password = "";
  return { url: parsed.href, password };
}
