import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { ManualClock } from "../../src/engine/index.ts";
import { SCOPES, Tokens } from "../../src/http/index.ts";
import { createLedger } from "../../src/index.ts";
import { type HostAnswer, portIn, sendTo } from "../support/http/send-to.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";
import { prepareLedger, type Scene, type Sent } from "./attacked-server.ts";
import { ROUTES } from "./http-routes.ts";

/** The apps, tools and questions are those of the prepared ledgers; a tool that runs leaves a trace. */
const AGENT = `
import { appendFileSync } from "node:fs";
import { Agent, tool } from "countersign";
import { scripted } from "countersign/models/scripted";
const tools = ["pay", "wire", "named", "lost", "stray"].map((name) =>
  tool({
    name,
    description: "Does it.",
    parameters: { type: "object", properties: { amount: { type: "number" } } },
    requireConfirmation: true,
    execute: async () => appendFileSync("effects.log", name),
  }),
);
export const rootAgent = new Agent({ name: "desk", model: scripted(() => "Done."), tools });
`;
/** Where a browser would send the cookie of a login. */
const BY_LOGIN = /\/(me|decision|decisions|stream|view)$/;
const SERVE =
  `serve agents --port 0 --json --auth tokens --trust-proxy 1 --registry sqlite:countersign-tenants.db --tenants settings
  --public-url https://{tenant}.example.test`.split(/\s+/);
const PATIENT = { timeout: 120_000 };

interface Tenant extends Scene {
  readonly host: string;
  /** May do everything in this tenant. */
  readonly tokens: string[];
  /** Sessions, and what was recorded. */
  content(): unknown;
}

const JOURNAL = "select session, n, hash, body from log order by seq";
const SESSIONS = `select key, version, body from documents order by key`;

async function prepareTenant(folder: Folder, name: string): Promise<Tenant> {
  const file = join(folder.path, `${name}.db`);
  const secret = name.repeat(20);
  folder.run(["tenants", "create", name, "--ledger", `sqlite:${file}`]);
  folder.write(`settings/${name}.env`, `COUNTERSIGN_SECRET=${secret}\n`);
  // Some of it takes a moment, which has passed when the server looks at its own clock.
  const clock = new ManualClock(Date.now() - 60_000);
  const scene = await prepareLedger({ url: `sqlite:${file}`, secret }, clock);
  const tokens = await createTokens(`sqlite:${file}`);
  const content = (): unknown => {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    return [SESSIONS, JOURNAL].map((text) => database.prepare(text).all());
  };
  return { ...scene, host: `${name}.example.test`, tokens, content };
}

async function createTokens(url: string): Promise<string[]> {
  const ledger = await createLedger(url);
  const tokens = new Tokens(ledger.items, Date.now);
  const wanted = { user: "ana", roles: ["manager"], scopes: SCOPES, createdBy: "test" };
  const made = await Promise.all(Object.keys(ROUTES).map(() => tokens.create(wanted)));
  await ledger.close();
  return made.map(({ secret }) => secret);
}

/** Two tenants, each in the middle of its day, behind `countersign serve`. */
async function serve() {
  const folder = makeFolder();
  folder.write("agents/desk/agent.ts", AGENT);
  const [mine, theirs] = [await prepareTenant(folder, "mine"), await prepareTenant(folder, "theirs")];
  const server = folder.start(SERVE);
  const printed = await server.until(/\{"url".*\n/);
  const port = portIn(printed);
  let sentSoFar = 0;
  const ask = (sent: Sent, credentials: Readonly<Record<string, string>>): Promise<HostAnswer> =>
    sendTo(port, {
      ...sent,
      headers: {
        ...sent.headers,
        host: mine.host,
        // From another place each time: wrong credentials from one place are soon not even looked at.
        "x-forwarded-for": `10.0.0.${++sentSoFar}`,
        ...credentials,
      },
    });
  return { folder, mine, theirs, ask };
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

function methodOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

test("through serve, no route answers to another tenant's token or login", PATIENT, async () => {
  const { folder, mine, theirs, ask } = await serve();
  const before = [mine.content(), theirs.content()];
  // Who they are at home is nobody here; the same credential of this tenant is let in.
  expect((await ask({ method: "GET", path: "/v1/me" }, bearer(mine.secrets.service))).status).toBe(200);
  const login = { ...theirs.page, origin: `https://${mine.host}` };
  for (const [name, route] of Object.entries(ROUTES)) {
    if (route.open === true) continue;
    const sent = { method: methodOf(name), ...route.request(mine.ids) };
    // Another one each time: one that is wrong too often is not looked at any more.
    const { status } = await ask(sent, bearer(theirs.tokens.pop() ?? ""));
    expect([name, status]).toEqual([name, 401]);
    if (!BY_LOGIN.test(name)) continue;
    expect([name, (await ask(sent, login)).status]).toEqual([name, 401]);
  }
  const a2a = { method: "POST", path: "/a2a/desk", body: {} };
  expect((await ask(a2a, bearer(theirs.secrets.service))).status).toBe(401);
  expect([mine.content(), theirs.content()]).toEqual(before);
  expect(folder.read("effects.log")).toBe("");
});

test("through serve, no route finds what another tenant's ids name", PATIENT, async () => {
  const { folder, mine, theirs, ask } = await serve();
  const before = theirs.content();
  let tried = 0;
  for (const [name, route] of Object.entries(ROUTES)) {
    const [own, foreign] = [route.request(mine.ids), route.request(theirs.ids)];
    // Where the request names nothing by id, it is about the tenant's own.
    if (JSON.stringify(own) === JSON.stringify(foreign)) continue;
    tried += 1;
    const { status, text } = await ask({ method: methodOf(name), ...foreign }, bearer(mine.secrets.service));
    const { results } = JSON.parse(text) as { readonly results?: readonly { readonly status: number }[] };
    const statuses = results?.map((each) => each.status) ?? [status];
    expect(
      statuses.filter((each) => each < 400 || each >= 500),
      `${name}: ${text}`,
    ).toEqual([]);
  }
  expect(tried).toBeGreaterThan(10);
  expect(theirs.content()).toEqual(before);
  expect(folder.read("effects.log")).toBe("");
});

test(
  "a host name that is no tenant's is answered with 404, and two at once are refused",
  PATIENT,
  async () => {
    const { mine, theirs, ask } = await serve();
    const get = async (host: string, path = "/v1/me"): Promise<number> =>
      (await ask({ method: "GET", path, headers: {} }, { ...bearer(mine.secrets.service), host })).status;
    for (const host of [
      "nobody.example.test",
      "example.test",
      "a.mine.example.test",
      "mine.example.test.evil",
    ])
      expect([host, await get(host)]).toEqual([host, 404]);
    expect(await get("MINE.example.test:8443")).toBe(200);
    // However the other one is written, and wherever else a request names it, a token of this one opens nothing there.
    const spelt = [`${theirs.host}.`, "THEIRS.example.test", "%74heirs.example.test", `${theirs.host}:1`];
    for (const host of spelt) expect([host, [400, 401, 421].includes(await get(host))]).toEqual([host, true]);
    const named = { "x-forwarded-host": theirs.host, forwarded: `host=${theirs.host}`, "x-tenant": "theirs" };
    const elsewhere = async (host: string): Promise<number> =>
      (await ask({ method: "GET", path: "/v1/me" }, { ...named, ...bearer(theirs.tokens.pop() ?? ""), host }))
        .status;
    expect([await elsewhere(mine.host), await elsewhere(theirs.host)]).toEqual([401, 200]);
    const paths = [
      `//${theirs.host}/v1/me`,
      `/..%2f..%2ftheirs/v1/me`,
      `/v1/../../theirs/v1/me`,
      "/t/theirs/v1/me",
    ];
    for (const path of paths) expect([path, await get(mine.host, path)]).toEqual([path, 404]);
    // A request that names two hosts is for none of them.
    expect(await get(mine.host, `http://${theirs.host}/v1/me`)).toBe(400);
  },
);
