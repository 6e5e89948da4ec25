import { describe, expect, test } from "vitest";
import { PROOF_HEADER } from "../../../src/client/index.ts";
import { loginModeOf } from "../../../src/engine/index.ts";
import { createAuth, createLoginLink, type RequestLimits } from "../../../src/http/index.ts";
import { createLedger } from "../../../src/index.ts";
import { TestIssuer } from "../../support/http/issuer.ts";
import { cookiesOf, loginIn, type Served, startServed } from "../../support/http/served.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
const CLIENT = { id: "countersign-web" };

/** Logs a browser in with a token, and gives what its pages send from then on. */
async function logIn(served: Served, token: string): Promise<Record<string, string>> {
  const answer = await served.send("/auth/login", { body: { token } });
  expect(answer.status).toBe(200);
  return loginIn(answer);
}

describe("with tokens", () => {
  test("a missing or wrong credential gets 401", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    for (const authorization of [undefined, "Bearer cst_nobody", "Basic YW5hOmFuYQ==", "Bearer"]) {
      const answer = await served.send(
        "/v1/me",
        authorization === undefined ? {} : { headers: { authorization } },
      );
      expect(answer.status, authorization).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain("Bearer");
      expect(await answer.json()).toMatchObject({ code: "unauthenticated", status: 401 });
    }
    const adk = await served.send("/list-apps");
    expect(adk.status).toBe(401);
    expect(await adk.json()).toMatchObject({ error: expect.any(String) as string, code: "unauthenticated" });
    expect((await served.send("/healthz")).status).toBe(200);
  });

  test("the ledger knows that people log in, so that no other way in bypasses the login", async () => {
    const ledger = await createLedger("memory:");
    resources.add(() => ledger.close());
    await createAuth({ mode: "none", ledger });
    expect(await loginModeOf(ledger.items)).toBe("none");
    await createAuth({ mode: "tokens", ledger });
    expect(await loginModeOf(ledger.items)).toBe("tokens");
  });

  test("a bearer is the token's user on every route", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const authorization = `Bearer ${await served.tokenFor("ana", ["read"], ["finance"])}`;
    const me = await served.send("/v1/me", { headers: { authorization } });
    expect(await me.json()).toMatchObject({
      auth: "tokens",
      principal: { id: "ana", kind: "token", roles: ["finance"], scopes: ["read"], authenticated: true },
    });
    expect((await served.send("/list-apps", { headers: { authorization } })).status).toBe(200);
  });

  test("a browser logs in once with a token, and its cookie counts on the ADK's routes too", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const startedAt = performance.now();
    const answer = await served.send("/auth/login", { body: { token: await served.tokenFor("ana") } });
    const tookS = Math.ceil((performance.now() - startedAt) / 1000);
    expect(await answer.clone().json()).toMatchObject({ principal: { id: "ana" } });
    const [line = ""] = answer.headers.getSetCookie();
    expect(line).toMatch(/^countersign=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    // A week from when the server took the token: no more, and less by no more than the request took.
    const maxAge = Number(line.split("Max-Age=")[1]);
    expect(maxAge).toBeLessThanOrEqual(604_800);
    expect(maxAge).toBeGreaterThanOrEqual(604_800 - tookS);
    const headers = { ...(await loginIn(answer)), origin: served.url };
    expect((await served.send("/v1/me", { headers })).status).toBe(200);
    const session = "/apps/desk/users/ana/sessions/s1";
    expect((await served.send(session, { headers, body: {} })).status).toBe(200);
    const run = {
      appName: "desk",
      userId: "ana",
      sessionId: "s1",
      newMessage: { parts: [{ text: "Pay." }] },
    };
    const ran = await served.send("/run", { headers, body: run });
    expect(ran.status).toBe(200);
    expect(JSON.stringify(await ran.json())).toContain("adk_request_confirmation");
    const list = await served.send("/v1/confirmations", { headers });
    expect(await list.json()).toMatchObject({ items: [{ user: "ana", can: { decide: true } }] });
  });

  test("over TLS the cookie is pinned to this host", async () => {
    const served = await startServed(resources, {
      mode: "tokens",
      publicUrl: "https://approvals.test",
      app: { allowedHosts: ["127.0.0.1"] },
    });
    const answer = await served.send("/auth/login", { body: { token: await served.tokenFor("ana") } });
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-countersign=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure; /,
    );
    expect(answer.headers.get("strict-transport-security")).toBeTruthy();
    const headers = await loginIn(answer);
    expect((await served.send("/v1/me", { headers })).status).toBe(200);
    const plain = { ...headers, cookie: cookiesOf(answer).replace("__Host-", "") };
    expect((await served.send("/v1/me", { headers: plain })).status).toBe(401);
  });

  test("the cookie counts for pages of this origin only, reads included", async () => {
    const served = await startServed(resources, {
      mode: "tokens",
      app: { allowOrigins: ["http://ui.test"] },
    });
    const login = await logIn(served, await served.tokenFor("ana"));
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await served.send("/v1/me", { headers: { ...login, ...headers } })).status;
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ origin: served.url, "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await statusOf({ origin: "http://evil.test" })).toBe(403);
    expect(await statusOf({ origin: "http://ui.test" })).toBe(403);
    expect(await statusOf({ origin: "null" })).toBe(403);
    expect(await statusOf({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toBe(403);
    expect(await statusOf({ "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" })).toBe(403);
  });

  test("an allowed page calls with a token of its own, and reads why it was refused", async () => {
    const served = await startServed(resources, {
      mode: "tokens",
      app: { allowOrigins: ["http://ui.test"] },
    });
    const headers = { origin: "http://ui.test", authorization: `Bearer ${await served.tokenFor("ana")}` };
    const answer = await served.send("/v1/me", { headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "http://ui.test",
    ]);
    const refused = await served.send("/v1/me", { headers: { origin: "http://ui.test" } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
      401,
      "http://ui.test",
    ]);
  });

  test("a bad bearer is not made good by a cookie", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const login = await logIn(served, await served.tokenFor("ana"));
    for (const authorization of ["Bearer cst_nobody", "Basic eA=="])
      expect((await served.send("/v1/me", { headers: { ...login, authorization } })).status).toBe(401);
  });

  test("the cookie counts with the proof of its own login, and neither half alone", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const [ana, bob] = [
      await logIn(served, await served.tokenFor("ana")),
      await logIn(served, await served.tokenFor("bob")),
    ];
    const { cookie = "", [PROOF_HEADER]: proof = "" } = ana;
    const halves = [
      { cookie },
      { cookie, [PROOF_HEADER]: "" },
      { cookie, [PROOF_HEADER]: bob[PROOF_HEADER] ?? "" },
      { cookie, [PROOF_HEADER]: cookie.split("=")[1] ?? "" },
      { cookie: `${cookie}; ${PROOF_HEADER}=${proof}` },
      { [PROOF_HEADER]: proof },
      { cookie: bob["cookie"] ?? "", [PROOF_HEADER]: proof },
    ];
    for (const headers of halves)
      for (const path of ["/v1/me", "/v1/confirmations", "/list-apps", "/v1/confirmations/stream"])
        expect((await served.send(path, { headers })).status, JSON.stringify(headers)).toBe(401);
    expect((await served.send("/v1/me", { headers: ana })).status).toBe(200);
  });

  test("the cookie alone cannot log its owner out", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const login = await logIn(served, await served.tokenFor("ana"));
    const { cookie = "" } = login;
    await served.send("/auth/logout", { method: "POST", headers: { cookie, origin: served.url } });
    expect((await served.send("/v1/me", { headers: login })).status).toBe(200);
  });

  test("two cookies of one name do not log anybody in", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const [ana, bob] = [
      await logIn(served, await served.tokenFor("ana")),
      await logIn(served, await served.tokenFor("bob")),
    ];
    const headers = { ...ana, cookie: `${ana["cookie"]}; ${bob["cookie"]}` };
    expect((await served.send("/v1/me", { headers })).status).toBe(401);
  });

  test("logging out ends the cookie here and on the ledger", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const login = await logIn(served, await served.tokenFor("ana"));
    const out = await served.send("/auth/logout", {
      method: "POST",
      headers: { ...login, origin: served.url },
    });
    expect(out.headers.getSetCookie()[0]).toMatch(/^countersign=;.*Max-Age=0$/);
    expect((await served.send("/v1/me", { headers: login })).status).toBe(401);
  });

  test("another page can neither log a browser in nor out", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const login = await logIn(served, await served.tokenFor("ana"));
    const headers = { ...login, origin: "http://evil.test" };
    expect((await served.send("/auth/logout", { method: "POST", headers })).status).toBe(403);
    const body = { token: await served.tokenFor("eve") };
    expect((await served.send("/auth/login", { body, headers })).status).toBe(403);
    expect((await served.send("/v1/me", { headers: login })).status).toBe(200);
  });

  test("nobody logs in as somebody whom the body names", async () => {
    const served = await startServed(resources, { mode: "tokens" });
    const token = await served.tokenFor("ana");
    const named = await served.send("/auth/login", { body: { token, user: "boss", roles: ["manager"] } });
    expect(named.status).toBe(422);
    for (const body of [{}, { token: 7 }, { link: "x".repeat(43) }, { token: "" }])
      expect((await served.send("/auth/login", { body })).headers.getSetCookie()).toEqual([]);
  });

  test("a login is known to another server of the ledger, and ends with its token on both", async () => {
    const ledger = `sqlite:${await resources.folder()}/ledger.db`;
    const [here, there] = [
      await startServed(resources, { mode: "tokens", ledger }),
      await startServed(resources, { mode: "tokens", ledger }),
    ];
    const { token, secret } = await here.tokens.create({
      user: "ana",
      roles: [],
      scopes: ["read"],
      createdBy: "local:test",
    });
    const headers = await logIn(here, secret);
    expect((await there.send("/v1/me", { headers })).status).toBe(200);
    await there.tokens.revoke(token.id, "local:test");
    for (const served of [here, there]) expect((await served.send("/v1/me", { headers })).status).toBe(401);
  });
});

describe("limits", () => {
  test("an address that keeps failing must wait, and a valid credential is accepted all the same", async () => {
    const served = await startServed(resources, {
      mode: "tokens",
      app: { limits: { failedLoginsPerMinute: 3 } },
    });
    const fail = (): Promise<Response> =>
      served.send("/v1/me", { headers: { authorization: "Bearer cst_wrong" } });
    const answers = [await fail(), await fail(), await fail(), await fail()];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answers.at(-1)?.json()).toMatchObject({ code: "rate-limited" });
    expect((await served.send("/auth/login", { body: { token: "cst_wrong" } })).status).toBe(429);
    const authorization = `Bearer ${await served.tokenFor("ana")}`;
    expect((await served.send("/v1/me", { headers: { authorization } })).status).toBe(200);
    expect((await served.send("/v1/me")).status).toBe(401);
  });

  test("one caller's requests do not use up another's", async () => {
    const served = await startServed(resources, {
      mode: "tokens",
      app: { limits: { requestsPerMinute: 2 } },
    });
    const as = async (user: string): Promise<Record<string, string>> => ({
      authorization: `Bearer ${await served.tokenFor(user)}`,
    });
    const [ana, bob] = [await as("ana"), await as("bob")];
    const statuses: number[] = [];
    for (const headers of [ana, ana, ana, bob, await as("ana")])
      statuses.push((await served.send("/list-apps", { headers })).status);
    expect(statuses).toEqual([200, 200, 429, 200, 429]);
  });
});

describe("with a local login", () => {
  test("a link logs one browser in, once, and only by a click", async () => {
    const ledger = `sqlite:${await resources.folder()}/ledger.db`;
    const served = await startServed(resources, { mode: "local", ledger });
    const ledgerThere = await createLedger(ledger);
    resources.add(() => ledgerThere.close());
    const link = await createLoginLink({ ledger: ledgerThere, publicUrl: served.url, user: "local:ana" });
    const page = await fetch(link);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.headers.get("content-security-policy")).toMatch(/script-src 'sha256-[\w+/=]+'/);
    const body = { link: new URL(link).hash.slice(1) };
    const clicks = await Promise.all([1, 2, 3].map(() => served.send("/auth/login", { body })));
    expect(clicks.map(({ status }) => String(status)).toSorted()).toEqual(["200", "401", "401"]);
    const clicked = clicks.find(({ status }) => status === 200);
    const headers = clicked === undefined ? {} : await loginIn(clicked);
    expect(await (await served.send("/v1/me", { headers })).json()).toMatchObject({
      auth: "local",
      principal: { id: "local:ana", kind: "local", authenticated: true },
    });
    expect((await served.send("/v1/me")).status).toBe(401);
  });
});

describe("through an issuer", () => {
  test("a browser comes back logged in", async () => {
    const { served } = await start();
    const { back, cookie } = await leave(served);
    const returned = await served.send(back, {
      headers: { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    });
    expect(returned.status).toBe(200);
    const [, proof = ""] = /data-proof="([\w-]{43})"/.exec(await returned.text()) ?? [];
    expect(returned.headers.get("cache-control")).toBe("no-store");
    const headers = { cookie: cookiesOf(returned), "countersign-proof": proof };
    expect(await (await served.send("/v1/me", { headers })).json()).toMatchObject({
      auth: "oidc",
      principal: { id: "ana", kind: "oidc", roles: ["finance"] },
    });
  });

  test("an answer of the issuer counts once, and in the browser that left, whatever the issuer would take", async () => {
    const { served, issuer } = await start();
    issuer.careless = true;
    const [one, other] = [await leave(served), await leave(served)];
    expect((await served.send(one.back, { headers: { cookie: other.cookie } })).status).toBe(401);
    expect((await served.send(one.back)).status).toBe(401);
    expect((await served.send(one.back, { headers: { cookie: one.cookie } })).status).toBe(200);
    expect((await served.send(one.back, { headers: { cookie: one.cookie } })).status).toBe(401);
  });

  test("a code that somebody else was given is worth nothing", async () => {
    const { served } = await start();
    const [one, other] = [await leave(served), await leave(served)];
    const mixed = new URL(one.back, served.url);
    mixed.searchParams.set("code", new URL(other.back, served.url).searchParams.get("code") ?? "");
    const answer = await served.send(`${mixed.pathname}${mixed.search}`, { headers: { cookie: one.cookie } });
    expect([answer.status, cookiesOf(answer)]).toEqual([401, ""]);
  });

  test.each([
    ["says that it comes from another issuer", "iss", "https://elsewhere.test"],
    ["says that the person refused", "error", "access_denied"],
  ])("an answer that %s logs nobody in, though its code is good", async (_, name, value) => {
    const { served } = await start();
    const { back, cookie } = await leave(served);
    const answer = await served.send(`${back}&${name}=${encodeURIComponent(value)}`, {
      headers: { cookie },
    });
    expect([answer.status, cookiesOf(answer)]).toEqual([401, ""]);
  });

  test("a token that was made for another login logs nobody in", async () => {
    const { served, issuer } = await start();
    issuer.nonce = "of another login";
    const { back, cookie } = await leave(served);
    const answer = await served.send(back, { headers: { cookie } });
    expect([answer.status, cookiesOf(answer)]).toEqual([401, ""]);
  });

  test.each(["GET", "HEAD"])(
    "one address begins so many logins a minute by %s, since each is remembered for a while",
    async (method) => {
      const { served } = await start({ failedLoginsPerMinute: 2 });
      const statuses: number[] = [];
      for (let begun = 0; begun < 3; begun += 1)
        statuses.push((await served.send("/auth/login", { method })).status);
      expect(statuses).toEqual([302, 302, 429]);
    },
  );

  test("a token of the issuer, or one of ours, is as good as a bearer", async () => {
    const { served, issuer } = await start();
    for (const token of [await issuer.token(), await served.tokenFor("ci")])
      expect((await served.send("/v1/me", { headers: { authorization: `Bearer ${token}` } })).status).toBe(
        200,
      );
    expect((await served.send("/auth/login", { body: { token: await issuer.token() } })).status).toBe(200);
  });

  test("a cookie that a token of the issuer was exchanged for ends with that token", async () => {
    const { served, issuer } = await start();
    const token = await issuer.token({ expiresIn: 90 });
    const answer = await served.send("/auth/login", { body: { token } });
    const [, maxAge] = /Max-Age=(\d+)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? [];
    expect(Number(maxAge)).toBeLessThanOrEqual(90);
    const { items } = await served.ledger.items.list("login");
    expect(items[0]?.expiresAt).toBeLessThanOrEqual(Date.now() + 90_000);
    // It is good for a minute longer as a bearer, for clocks that are off; a login is not made of that minute.
    const late = await served.send("/auth/login", {
      body: { token: await issuer.token({ expiresIn: -30 }) },
    });
    expect((await served.send("/v1/me", { headers: await loginIn(late) })).status).toBe(401);
  });

  test("who somebody is, and their roles, is asked of the issuer again after an hour", async () => {
    let now = Date.now();
    const issuer = await TestIssuer.open();
    resources.add(() => issuer.close());
    const oidc = { issuer: issuer.url, audience: "countersign", client: CLIENT };
    const served = await startServed(resources, { mode: "oidc", oidc, now: () => now });
    const { back, cookie } = await leave(served);
    const returned = await served.send(back, { headers: { cookie } });
    const [, proof = ""] = /data-proof="([\w-]{43})"/.exec(await returned.text()) ?? [];
    const headers = { cookie: cookiesOf(returned), [PROOF_HEADER]: proof };
    now += 3_599_000;
    expect((await served.send("/v1/me", { headers })).status).toBe(200);
    now += 1_000;
    expect((await served.send("/v1/me", { headers })).status).toBe(401);
  });

  test("a browser's login may use what people come for; an issuer that names our scopes decides instead", async () => {
    const { served, issuer } = await start();
    const scopesAfter = async (): Promise<unknown> => {
      const { back, cookie } = await leave(served);
      const returned = await served.send(back, { headers: { cookie } });
      const [, proof = ""] = /data-proof="([\w-]{43})"/.exec(await returned.text()) ?? [];
      const headers = { cookie: cookiesOf(returned), [PROOF_HEADER]: proof };
      const me = (await (await served.send("/v1/me", { headers })).json()) as {
        readonly principal: { readonly scopes: unknown };
      };
      return me.principal.scopes;
    };
    expect(await scopesAfter()).toEqual(["run", "read", "decide"]);
    issuer.claims = { ...issuer.claims, scope: "openid countersign:read" };
    expect(await scopesAfter()).toEqual(["read"]);
  });

  test.each([
    ["a logout token", { typ: "logout+jwt" }],
    ["an access token", { typ: "at+jwt" }],
    ["one of several audiences that was asked for by another", { audience: ["countersign-web", "other"] }],
    ["one that was asked for by another", { claims: { azp: "other" } }],
  ])("%s, where the issuer has to say who came, logs nobody in", async (_, idToken) => {
    const { served, issuer } = await start();
    issuer.idToken = idToken;
    const { back, cookie } = await leave(served);
    const answer = await served.send(back, { headers: { cookie } });
    expect([answer.status, cookiesOf(answer)]).toEqual([401, ""]);
  });
});

/** A server whose people log in at an issuer. */
async function start(
  limits: Partial<RequestLimits> = {},
): Promise<{ readonly served: Served; readonly issuer: TestIssuer }> {
  const issuer = await TestIssuer.open();
  resources.add(() => issuer.close());
  const oidc = { issuer: issuer.url, audience: "countersign", client: CLIENT };
  return { served: await startServed(resources, { mode: "oidc", oidc, app: { limits } }), issuer };
}

/** Leaves for the issuer; gives where it sends the browser back to, and the cookies that the browser has. */
async function leave(served: Served): Promise<{ readonly back: string; readonly cookie: string }> {
  const left = await served.send("/auth/login");
  const location = new URL(left.headers.get("location") ?? "");
  expect(location.searchParams.get("code_challenge_method")).toBe("S256");
  const sent = await fetch(location, { redirect: "manual" });
  const back = new URL(sent.headers.get("location") ?? "");
  return { back: `${back.pathname}${back.search}`, cookie: cookiesOf(left) };
}
