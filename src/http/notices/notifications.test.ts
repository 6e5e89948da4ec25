import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../client/index.ts";
import { createEngine, type PrincipalInput } from "../../index.ts";
import { parsePolicy } from "../../policy/index.ts";
import { createApp } from "../index.ts";

const scopes = ["read", "decide"];
const PEOPLE: { readonly [name: string]: PrincipalInput } = {
  ana: { id: "ana", kind: "token", scopes, authenticated: true },
  phone: { id: "ana", kind: "oidc", scopes, authenticated: true },
  sso: { id: "ana@sso", kind: "oidc", scopes, authenticated: true },
  bob: { id: "bob", kind: "token", scopes, authenticated: true },
  reader: { id: "ana", kind: "token", scopes: ["read"], authenticated: true },
  robot: { id: "ana", kind: "agent", scopes, authenticated: true },
};
const QUIET = { timeZone: "Europe/Berlin", from: "22:00", to: "07:00" };

const POLICY = 'people: { ana: [ana, "ana@sso"] }\nrules: []\n';

async function openSite() {
  const engine = await createEngine({ ledger: "memory:", policy: parsePolicy("policy.yaml", POLICY) });
  onTestFinished(() => engine.close());
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://sign.example",
    authenticate: (request) => PEOPLE[request.headers.get("authorization") ?? ""],
  });
  const send = (as: string, body?: unknown): Promise<Response> =>
    app.fetch(
      new Request("https://sign.example/v1/me/notifications", {
        method: body === undefined ? "GET" : "PUT",
        headers: { authorization: as, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  return { app, send };
}

test("a person sets their own notifications, for all their logins and for nobody else", async () => {
  const { send } = await openSite();
  expect(await (await send("ana")).json()).toEqual({ off: [] });
  const settings = { off: ["email"], quiet: QUIET, daily: { timeZone: "Europe/Berlin", at: "09:00" } };
  expect(await (await send("ana", settings)).json()).toEqual(settings);
  expect(await (await send("phone")).json()).toEqual(settings);
  expect(await (await send("sso")).json()).toEqual(settings);
  expect(await (await send("bob")).json()).toEqual({ off: [] });
  expect(await (await send("ana", { off: [] })).json()).toEqual({ off: [] });
});

test("a program and a login that only reads change nothing", async () => {
  const { send } = await openSite();
  for (const who of ["robot", "reader"]) expect((await send(who, { off: ["push"] })).status, who).toBe(403);
  expect(await (await send("reader")).json()).toEqual({ off: [] });
  expect((await send("nobody")).status).toBe(401);
});

test.each([
  ["a time zone that does not exist", { off: [], quiet: { ...QUIET, timeZone: "Berlin" } }, /no time zone/],
  ["a time that does not exist", { off: [], quiet: { ...QUIET, to: "24:00" } }, /HH:MM/],
  ["hours without a length", { off: [], quiet: { ...QUIET, to: "22:00" } }, /must differ/],
  ["a daily time that does not exist", { off: [], daily: { timeZone: "UTC", at: "9" } }, /HH:MM/],
  ["a daily time without a zone", { off: [], daily: { at: "09:00" } }, /timeZone/],
  ["half of the hours", { off: [], quiet: { from: "22:00", to: "07:00" } }, /timeZone/],
  ["no list of channels", { quiet: QUIET }, /off/],
  ["something else", { off: [], loud: true }, /loud/],
])("%s is refused, and says why", async (_what, body, why) => {
  const { send } = await openSite();
  const answer = await send("ana", body);
  expect(answer.status).toBe(422);
  expect(await answer.text()).toMatch(why);
  expect(await (await send("ana")).json()).toEqual({ off: [] });
});

test("the client gets and sets them", async () => {
  const { app } = await openSite();
  const client = createClient({
    baseUrl: "https://sign.example",
    fetch: (request) => app.fetch(request),
    headers: { authorization: "ana" },
  });
  expect(await client.notifications.set({ off: ["push"], quiet: QUIET })).toEqual({
    off: ["push"],
    quiet: QUIET,
  });
  expect(await client.notifications.get()).toEqual({ off: ["push"], quiet: QUIET });
});
