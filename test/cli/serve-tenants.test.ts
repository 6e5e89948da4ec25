import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type HostAnswer, portIn, sendTo } from "../support/http/send-to.ts";
import { type Folder, makeFolder, type Ran, type Started } from "../support/processes/command-line.ts";
import { writePayer } from "./payer.ts";

const PATIENT = { timeout: 120_000 };
const REGISTRY = ["--registry", "sqlite:countersign-tenants.db"];
const PUBLIC = ["--public-url", "http://{tenant}.localhost"];
const SERVE = ["serve", "agents", "--port", "0", "--json", ...REGISTRY];
const NEVER = "rules: [{ id: never, match: { tool: pay }, then: deny, reason: Nobody pays here. }]\n";

interface Answer extends HostAnswer {
  readonly json: unknown;
}

type Ask = (tenant: string, path: string, body?: object) => Promise<Answer>;

function createTenant(folder: Folder, name: string, env: NodeJS.ProcessEnv = {}): void {
  const created = folder.run(["tenants", "create", name, "--ledger", `sqlite:${name}.db`], env);
  expect(created).toMatchObject({ code: 0 });
}

async function serve(
  folder: Folder,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly server: Started; readonly ask: Ask }> {
  writePayer(folder);
  const server = folder.start([...SERVE, ...PUBLIC, ...args], env);
  const printed = await server.until(/\{"url".*\n/);
  const port = portIn(printed);
  const ask: Ask = async (tenant, path, body) => {
    const answer = await sendTo(port, { path, body, headers: { host: `${tenant}.localhost` } });
    return {
      ...answer,
      json: answer.text.startsWith("{") || answer.text.startsWith("[") ? JSON.parse(answer.text) : undefined,
    };
  };
  return { server, ask };
}

/** Asks the agent of a tenant to pay. */
async function askToPay(ask: Ask, tenant: string): Promise<Answer> {
  const session = { appName: "payer", userId: "ana", sessionId: "s1" };
  await ask(tenant, "/apps/payer/users/ana/sessions/s1", {});
  return ask(tenant, "/run", { ...session, newMessage: { role: "user", parts: [{ text: "Pay 5" }] } });
}

async function questions(ask: Ask, tenant: string): Promise<readonly { readonly id: string }[]> {
  const { json } = await ask(tenant, "/v1/confirmations");
  return (json as { readonly items: readonly { readonly id: string }[] }).items;
}

test(
  "all active tenants are served, each with its own ledger, and changes count without a restart",
  PATIENT,
  async () => {
    const folder = makeFolder();
    createTenant(folder, "acme");
    createTenant(folder, "globex");
    const { server, ask } = await serve(folder);
    expect((await ask("acme", "/list-apps")).json).toEqual(["payer"]);
    await askToPay(ask, "acme");
    expect(await questions(ask, "acme")).toHaveLength(1);
    expect(await questions(ask, "globex")).toHaveLength(0);
    expect((await ask("initech", "/v1/me")).status).toBe(404);
    createTenant(folder, "initech");
    expect(folder.run(["tenants", "limit", "initech", "--sessions", "1"]).code).toBe(0);
    expect((await ask("initech", "/v1/me")).status).toBe(200);
    await ask("initech", "/apps/payer/users/ana/sessions/s1", {});
    expect((await ask("initech", "/apps/payer/users/ana/sessions/s2", {})).json).toMatchObject({
      code: "over-quota",
    });
    const status = async (): Promise<number> => (await ask("acme", "/v1/me")).status;
    expect(folder.run(["tenants", "suspend", "acme"]).code).toBe(0);
    await expect.poll(status, { timeout: 10_000 }).toBe(403);
    expect((await ask("globex", "/v1/me")).status).toBe(200);
    expect(folder.run(["tenants", "resume", "acme"]).code).toBe(0);
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
    expect(await questions(ask, "acme")).toHaveLength(1);
    folder.run(["tenants", "suspend", "acme"]);
    expect(folder.run(["tenants", "erase", "acme", "--confirm", "acme"]).code).toBe(0);
    await expect.poll(status, { timeout: 10_000 }).toBe(404);
    expect((await ask("globex", "/v1/me")).status).toBe(200);
    server.signal("SIGTERM");
    expect(await server.ended()).toMatchObject({ code: 0 });
  },
);

test("a tenant's file has its secret and its policy, and nobody else's", PATIENT, async () => {
  const folder = makeFolder();
  const registrys = { COUNTERSIGN_SECRET: "r".repeat(40) };
  createTenant(folder, "acme", registrys);
  createTenant(folder, "globex", registrys);
  folder.write("never.yaml", NEVER);
  folder.write("settings/acme.env", `COUNTERSIGN_SECRET=${"a".repeat(40)}\nCOUNTERSIGN_POLICY=never.yaml\n`);
  folder.write("settings/globex.env", "");
  const { server, ask } = await serve(folder, ["--tenants", "settings"], registrys);
  expect((await askToPay(ask, "acme")).text).toContain("Nobody pays here.");
  await askToPay(ask, "globex");
  const [{ id } = { id: "" }] = await questions(ask, "globex");
  folder.write("go", "");
  expect((await ask("globex", `/v1/confirmations/${id}/decision`, { confirmed: true })).status).toBe(200);
  server.signal("SIGTERM");
  await server.ended();
  const verify = (name: string, secret?: string): Ran =>
    folder.run(
      ["audit", "verify", "--db", `sqlite:${name}.db`],
      secret === undefined ? {} : { COUNTERSIGN_SECRET: secret },
    );
  expect(verify("acme", "a".repeat(40)).code).toBe(0);
  expect(verify("acme", "r".repeat(40)).code).not.toBe(0);
  // The secret of the process is the registry's.
  expect(verify("globex").code).toBe(0);
  expect(verify("countersign-tenants", "r".repeat(40)).code).toBe(0);
});

test("a tenant without its file is not served, and only the log says why", PATIENT, async () => {
  const folder = makeFolder();
  createTenant(folder, "acme");
  createTenant(folder, "globex");
  folder.write("settings/globex.env", "");
  const { server, ask } = await serve(folder, ["--tenants", "settings"]);
  const refused = await ask("acme", "/v1/me");
  expect([refused.status, refused.text]).toEqual([500, expect.not.stringContaining("settings") as unknown]);
  await server.until(/acme\.env cannot be read/);
  expect((await ask("globex", "/v1/me")).status).toBe(200);
  folder.write("settings/acme.env", "");
  expect((await ask("acme", "/v1/me")).status).toBe(200);
});

test(
  "a ledger that is gone is not made anew, and one that is not the tenant's is not used",
  PATIENT,
  async () => {
    const folder = makeFolder();
    for (const name of ["acme", "globex"]) {
      createTenant(folder, name);
      for (const end of ["", "-wal", "-shm"]) rmSync(join(folder.path, `${name}.db${end}`), { force: true });
    }
    expect(folder.run(["migrate", "--db", "sqlite:globex.db"]).code).toBe(0);
    const { ask } = await serve(folder);
    expect((await ask("acme", "/v1/me")).json).toMatchObject({ status: 503, code: "ledger-unreachable" });
    expect(existsSync(join(folder.path, "acme.db"))).toBe(false);
    expect((await ask("globex", "/v1/me")).json).toMatchObject({ status: 503, code: "ledger-mismatch" });
  },
);

test("what makes no sense together is refused before anything is served", () => {
  const folder = makeFolder();
  writePayer(folder);
  const refuse = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran =>
    folder.run([...SERVE, ...args], env);
  expect(refuse(PUBLIC)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("There is no registry") as unknown,
  });
  createTenant(folder, "acme");
  const cases: readonly (readonly [readonly string[], NodeJS.ProcessEnv, string])[] = [
    [[], {}, "--public-url with {tenant}"],
    [["--public-url", "http://localhost/{tenant}"], {}, "--public-url with {tenant}"],
    [["--public-url", "http://{tenant}.{tenant}.localhost"], {}, "--public-url with {tenant}"],
    [[...PUBLIC, "--db", "sqlite:one.db"], {}, "cannot be combined"],
    [PUBLIC, { COUNTERSIGN_DB: "sqlite:one.db" }, "cannot be combined"],
    [[...PUBLIC, "--auth", "local"], {}, "use tokens or oidc"],
  ];
  for (const [args, env, problem] of cases)
    expect([args, refuse(args, env).stderr]).toEqual([args, expect.stringContaining(problem)]);
  expect(folder.run(["serve", "agents", "--tenants", "settings"]).stderr).toContain("needs --registry");
});
