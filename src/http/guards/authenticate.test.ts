import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Auth } from "../auth/auth.ts";
import { noAuth } from "../auth/no-auth.ts";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { authenticate } from "./authenticate.ts";

const ANA = { id: "ana", kind: "token", roles: [], scopes: ["read"], authenticated: true } as const;

const isUnlimited = (at: string): boolean => at === "/probe";

async function get(auth: Auth, path: string, headers: Record<string, string> = {}) {
  const warned: object[] = [];
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  const log = { ...SILENT, warn: (facts: object) => warned.push(facts) };
  const origins = { publicUrl: undefined, allowOrigins: ["http://ui.test"] };
  app.use(authenticate({ ...origins, auth, log, isOpen: (at) => at !== "/v1", isUnlimited }));
  app.get("*", (context) => context.json(context.get("principal")));
  const answer = await app.request(`http://localhost${path}`, { headers });
  return { status: answer.status, body: (await answer.json()) as object, warned };
}

test("nothing is looked up for what everybody may ask for as often as they like", async () => {
  const auth: Auth = { name: "tokens", authenticate: () => Promise.reject(new Error("it was looked up")) };
  const { status, warned } = await get(auth, "/probe", { authorization: "Bearer x" });
  expect([status, warned]).toEqual([200, []]);
});

test("a route knows who asks, and one that needs nobody gets somebody without any right", async () => {
  const known: Auth = { name: "tokens", authenticate: async () => ANA };
  expect(await get(known, "/v1")).toMatchObject({ status: 200, body: ANA });
  const nobody: Auth = { name: "tokens", authenticate: async () => undefined };
  expect(await get(nobody, "/v1")).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
  expect(await get(nobody, "/open")).toMatchObject({
    status: 200,
    body: { id: "local", scopes: [], authenticated: false },
  });
});

test("a failing login lets nobody in, and the reason is only in the log", async () => {
  const broken: Auth = {
    name: "host",
    authenticate: () => Promise.reject(new Error("the database said no")),
  };
  const { status, body, warned } = await get(broken, "/v1");
  expect(status).toBe(401);
  expect(JSON.stringify(body)).not.toContain("database");
  expect(warned).toMatchObject([{ err: { message: "the database said no" } }]);
});

test("without a login, being on this machine counts for our own pages and allowed ones", async () => {
  const pages = ["http://localhost", "http://ui.test", "http://evil.test"];
  const answers = await Promise.all(pages.map((origin) => get(noAuth, "/v1", { origin, host: "localhost" })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 403]);
  expect((await get(noAuth, "/v1")).status).toBe(200);
});

test("a credential that the page had to know counts wherever the page is from", async () => {
  const known: Auth = { name: "tokens", authenticate: async () => ANA };
  const headers = { origin: "http://evil.test", authorization: "Bearer x" };
  expect((await get(known, "/v1", headers)).status).toBe(200);
});

test.each<[string, Auth]>([
  ["where nobody logs in", noAuth],
  ["where the host's login may have gone by a cookie", { name: "host", authenticate: async () => ANA }],
])("a header that proves nothing does not make a page elsewhere ours: %s", async (_, auth) => {
  const headers = { origin: "http://evil.test", authorization: "Bearer anything" };
  expect((await get(auth, "/v1", headers)).status).toBe(403);
});
