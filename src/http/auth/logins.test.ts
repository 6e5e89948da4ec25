import { expect, onTestFinished, test } from "vitest";
import { type Ledger, ManualClock, type Principal } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { createLoginLink, takeLoginLink } from "./login-links.ts";
import { Logins } from "./logins.ts";
import { hashSecret } from "./secrets.ts";
import { Tokens } from "./tokens.ts";

const HOUR_MS = 3_600_000;
const ANA: Principal = { id: "ana", kind: "oidc", roles: ["finance"], scopes: ["read"], authenticated: true };

async function open(): Promise<{
  readonly logins: Logins;
  readonly tokens: Tokens;
  readonly clock: ManualClock;
  readonly ledger: Ledger;
}> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  onTestFinished(() => ledger.close());
  const tokens = new Tokens(ledger.items, () => clock.now());
  return { logins: new Logins(ledger.items, () => clock.now()), tokens, clock, ledger };
}

test("a login is known by its cookie and its proof, which are nowhere on the ledger", async () => {
  const { logins, ledger } = await open();
  const secrets = await logins.begin({ principal: ANA });
  const { cookie, proof } = secrets;
  for (const secret of [cookie, proof]) {
    expect(Buffer.from(secret, "base64url")).toHaveLength(32);
    expect(JSON.stringify(await ledger.items.list("login"))).not.toContain(secret);
  }
  expect(await logins.find(secrets)).toEqual(ANA);
  for (const other of ["", `${cookie}x`, "x".repeat(43), proof])
    expect(await logins.find({ cookie: other, proof })).toBeUndefined();
  for (const other of ["", `${proof}x`, "x".repeat(43), cookie])
    expect(await logins.find({ cookie, proof: other })).toBeUndefined();
});

test("a login lasts while it is used, and 12 hours beyond", async () => {
  const { logins, clock } = await open();
  const cookie = await logins.begin({ principal: ANA });
  for (let times = 0; times < 3; times += 1) {
    await clock.advance(11 * HOUR_MS);
    expect(await logins.find(cookie)).toBeDefined();
  }
  await clock.advance(12 * HOUR_MS);
  expect(await logins.find(cookie)).toBeUndefined();
});

test("no login lasts longer than 7 days, however much it is used", async () => {
  const { logins, clock } = await open();
  const cookie = await logins.begin({ principal: ANA });
  for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
    expect(await logins.find(cookie)).toBeDefined();
    await clock.advance(6 * HOUR_MS);
  }
  expect(await logins.find(cookie)).toBeDefined();
  await clock.advance(6 * HOUR_MS);
  expect(await logins.find(cookie)).toBeUndefined();
});

test("a busy page costs a write an hour", async () => {
  const { logins, clock, ledger } = await open();
  const cookie = await logins.begin({ principal: ANA });
  for (let minutes = 0; minutes < 120; minutes += 1) {
    await clock.advance(60_000);
    await logins.find(cookie);
  }
  expect((await ledger.items.list("login")).items[0]?.version).toBe(3);
});

test("a login lasts no longer than what proved it", async () => {
  const { logins, clock } = await open();
  const login = await logins.begin({ principal: ANA, until: clock.now() + HOUR_MS });
  expect(login.until).toBe(clock.now() + HOUR_MS);
  await clock.advance(HOUR_MS - 1);
  expect(await logins.find(login)).toBeDefined();
  await clock.advance(1);
  expect(await logins.find(login)).toBeUndefined();
});

test("a login that is listed can be ended, while it is used too", async () => {
  const { logins, clock, ledger } = await open();
  const [one, other] = [await logins.begin({ principal: ANA }), await logins.begin({ principal: ANA })];
  const { items } = await logins.list();
  expect(items).toMatchObject([
    { user: "ana", kind: "oidc" },
    { user: "ana", kind: "oidc" },
  ]);
  await clock.advance(2 * HOUR_MS);
  const id = items
    .map((login) => login.id)
    .find((shown) => hashSecret("login", one.cookie).startsWith(shown));
  await Promise.all([logins.find(one), logins.revoke(id ?? ""), logins.find(one)]);
  expect(await logins.find(one)).toBeUndefined();
  expect(await logins.find(other)).toEqual(ANA);
  expect((await ledger.items.list("login")).items).toHaveLength(1);
  expect(await logins.revoke(id ?? "")).toBeUndefined();
});

test("logging out ends it, and again is no error", async () => {
  const { logins } = await open();
  const cookie = await logins.begin({ principal: ANA });
  await logins.end(cookie);
  await logins.end(cookie);
  expect(await logins.find(cookie)).toBeUndefined();
});

test("a login made with a token ends with it", async () => {
  const { logins, tokens } = await open();
  const made = await tokens.create({ user: "bob", roles: [], scopes: ["read"], createdBy: "local:root" });
  const known = await tokens.read(made.secret);
  if (known === undefined) throw new Error("the token does not count");
  const cookie = await logins.begin(known);
  expect(await logins.find(cookie)).toMatchObject({ id: "bob", kind: "token", scopes: ["read"] });
  await tokens.revoke(made.token.id, "local:root");
  expect(await logins.find(cookie)).toBeUndefined();
});

test("a login link logs in once, whoever races for it", async () => {
  const { ledger, clock } = await open();
  const now = (): number => clock.now();
  const link = await createLoginLink({ ledger, publicUrl: "http://127.0.0.1:8000/", user: "local:ana", now });
  const [address, secret = ""] = link.split("#");
  expect(address).toBe("http://127.0.0.1:8000/auth/login");
  const takers = await Promise.all(Array.from({ length: 8 }, () => takeLoginLink(ledger, secret)));
  const taken = takers.filter((person) => person !== undefined);
  expect(taken).toMatchObject([{ id: "local:ana", kind: "local", authenticated: true }]);
  expect(await takeLoginLink(ledger, secret)).toBeUndefined();
});

test("a login link that nobody used is gone after an hour", async () => {
  const { ledger, clock } = await open();
  const now = (): number => clock.now();
  const link = await createLoginLink({ ledger, publicUrl: "http://localhost", user: "local:ana", now });
  await clock.advance(HOUR_MS);
  expect(await takeLoginLink(ledger, link.split("#")[1] ?? "")).toBeUndefined();
});
