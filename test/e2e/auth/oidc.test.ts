import { base64url, SignJWT, UnsecuredJWT } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { type Auth, createAuth, type OidcOptions } from "../../../src/http/index.ts";
import { createLedger } from "../../../src/index.ts";
import { TestIssuer } from "../../support/http/issuer.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
let issuer: TestIssuer;

beforeEach(async () => {
  issuer = await TestIssuer.open();
  resources.add(() => issuer.close());
});

async function open(options: Partial<OidcOptions> = {}): Promise<Auth> {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const oidc = { issuer: issuer.url, audience: "countersign", keysCooldownMs: 0, ...options };
  return createAuth({ mode: "oidc", ledger, oidc });
}

function asking(token: string): Request {
  return new Request("http://localhost/v1/me", { headers: { authorization: `Bearer ${token}` } });
}

test("a token of the issuer is its subject, with the roles that it claims", async () => {
  const auth = await open();
  expect(await auth.authenticate(asking(await issuer.token()))).toEqual({
    id: "ana",
    kind: "oidc",
    roles: ["finance"],
    scopes: [],
    authenticated: true,
  });
});

describe("scopes", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["what a login asks for", "openid profile", []],
    ["our words without our name in front", "run read decide admin act-as", []],
    ["none", undefined, []],
    ["ours in a list", ["openid", "countersign:run"], ["run"]],
    ["something else than a text", { "countersign:admin": true }, []],
    ["ours", "openid countersign:run countersign:decide", ["run", "decide"]],
    ["one that there is not", "countersign:everything", []],
    ["another program's", "countersign-prod:decide xcountersign:decide COUNTERSIGN:decide", []],
  ])("a token that names %s", async (_, scope, scopes) => {
    const auth = await open();
    const person = await auth.authenticate(asking(await issuer.token({ claims: { scope } })));
    expect(person?.scopes).toEqual(scopes);
  });

  test("people without any of our scopes get the default scopes, and nobody else does", async () => {
    const auth = await open({ defaultScopes: ["read"] });
    const scopesOf = async (scope: string): Promise<unknown> =>
      (await auth.authenticate(asking(await issuer.token({ claims: { scope } }))))?.scopes;
    expect(await scopesOf("openid profile")).toEqual(["read"]);
    expect(await scopesOf("openid countersign:run")).toEqual(["run"]);
    expect(await scopesOf("openid countersign:typo")).toEqual([]);
  });
});

test.each(["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt"])(
  "an access token of the type %s counts",
  async (typ) => {
    const auth = await open();
    expect(await auth.authenticate(asking(await issuer.token({ typ })))).toBeDefined();
  },
);

describe("a token that was made for another use opens nothing", () => {
  const OTHERS: readonly (readonly [string, Parameters<TestIssuer["token"]>[0]])[] = [
    ...["logout+jwt", "refresh+jwt", "dpop+jwt", "secevent+jwt", "id+jwt", "JOSE", "", "at+jwt2"].map(
      (typ) => [`of the type "${typ}"`, { typ }] as const,
    ),
    ["without a type", { typ: undefined }],
    ["that says who logged in: nonce", { claims: { nonce: "n" } }],
    ["that says who logged in: at_hash", { claims: { at_hash: "h" } }],
    ["that says who logged in: c_hash", { claims: { c_hash: "h" } }],
    ["that Keycloak calls an ID token", { claims: { typ: "ID" } }],
    ["that Keycloak calls a refresh token", { claims: { typ: "Refresh" } }],
    ["that Cognito calls an ID token", { claims: { token_use: "id" } }],
    ["that tells of a logout", { typ: "at+jwt", claims: { events: {} } }],
    ["that counts with a proof only", { typ: "at+jwt", claims: { cnf: { jkt: "k" } } }],
  ];
  test.each(OTHERS)("one %s", async (_, wishes) => {
    const auth = await open();
    expect(await auth.authenticate(asking(await issuer.token(wishes)))).toBeUndefined();
  });
});

describe("an issuer is asked over TLS, or on this machine", () => {
  test.each(["http://id.test", "http://10.0.0.7:8080/realms/x", "ftp://id.test", "id.test"])(
    "not %s",
    async (url) => {
      await expect(open({ issuer: url })).rejects.toMatchObject({ code: "invalid-option" });
    },
  );

  test.each(["jwks_uri", "authorization_endpoint", "token_endpoint"])(
    "nor one whose %s is elsewhere without",
    async (name) => {
      issuer.configuration = { [name]: "http://keys.test/x" };
      const auth = await open();
      await expect(auth.authenticate(asking(await issuer.token()))).rejects.toMatchObject({
        code: "invalid-option",
      });
    },
  );
});

test("the audience of the API is not the client's id: what says who logged in would open everything", async () => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const oidc = { issuer: issuer.url, audience: ["api", "web"], client: { id: "web" } };
  const auth = createAuth({ mode: "oidc", ledger, oidc, publicUrl: "http://127.0.0.1:8000" });
  await expect(auth).rejects.toMatchObject({ code: "invalid-option" });
});

test("the id may be the verified email, and the roles stand where the settings say", async () => {
  const auth = await open({ idClaim: "email", rolesClaim: "realm_access.roles" });
  const claims = { realm_access: { roles: ["manager"] }, scope: "openid countersign:read" };
  const person = await auth.authenticate(asking(await issuer.token({ claims })));
  expect(person).toMatchObject({ id: "ana@corp.test", roles: ["manager"], scopes: ["read"] });
  const unverified = await issuer.token({ claims: { ...claims, email_verified: false } });
  expect(await auth.authenticate(asking(unverified))).toBeUndefined();
});

test("a new key of the issuer is requested, and a removed one no longer counts", async () => {
  const auth = await open();
  const old = await issuer.token();
  expect(await auth.authenticate(asking(old))).toBeDefined();
  await issuer.rotate();
  expect(await auth.authenticate(asking(await issuer.token()))).toBeDefined();
  expect(await auth.authenticate(asking(old))).toBeUndefined();
});

test("keys that nobody has are not asked for again and again", async () => {
  const auth = await open({ keysCooldownMs: 60_000 });
  const old = await issuer.token();
  expect(await auth.authenticate(asking(old))).toBeDefined();
  await issuer.rotate();
  for (let tries = 0; tries < 5; tries += 1) await auth.authenticate(asking(await issuer.token()));
  expect(issuer.keyReads).toBe(1);
});

describe("nobody is", () => {
  const forged: readonly [string, () => Promise<string>][] = [
    ["for another audience", () => issuer.token({ audience: "payroll" })],
    ["of another issuer", () => issuer.token({ issuer: "https://elsewhere.test" })],
    ["expired more than a minute ago", () => issuer.token({ expiresIn: -61 })],
    ["not valid for another hour", () => issuer.token({ notBefore: 3_600 })],
    ["unsigned", async () => new UnsecuredJWT(await claimsOf()).encode()],
    [
      "signed with nothing, under the issuer's key id",
      () => withHeader({ alg: "none", kid: issuer.publicKey.kid }),
    ],
    ["signed with the public key as a shared secret", hmacWithPublicKey],
    ["signed by another issuer's key", otherIssuers],
    ["altered after it was signed", async () => altered(await issuer.token())],
    ["without a subject", () => issuer.token({ claims: { sub: undefined } })],
    ["no token at all", async () => "a.b.c"],
  ];

  test.each(forged)("a bearer whose token is %s", async (_, make) => {
    const auth = await open();
    expect(await auth.authenticate(asking(await make()))).toBeUndefined();
  });
});

test("a clock that is a minute off is forgiven", async () => {
  const auth = await open();
  expect(await auth.authenticate(asking(await issuer.token({ expiresIn: -30 })))).toBeDefined();
  expect(await auth.authenticate(asking(await issuer.token({ notBefore: 30 })))).toBeDefined();
});

test("an issuer that is down lets nobody in, and is named in the log", async () => {
  const auth = await open();
  const { url } = issuer;
  const token = await issuer.token();
  await issuer.close();
  await expect(auth.authenticate(asking(token))).rejects.toMatchObject({ code: "unauthenticated" });
  await expect(auth.authenticate(asking(token))).rejects.toThrow(url);
});

test("an issuer that calls itself otherwise is not the one that was meant", async () => {
  const auth = await open({ issuer: issuer.url.replace("127.0.0.1", "localhost") });
  await expect(auth.authenticate(asking(await issuer.token()))).rejects.toMatchObject({
    code: "invalid-option",
  });
});

async function claimsOf(): Promise<Record<string, unknown>> {
  const [, payload = ""] = (await issuer.token()).split(".");
  return JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as Record<string, unknown>;
}

async function withHeader(header: Record<string, unknown>): Promise<string> {
  const [, payload, signature] = (await issuer.token()).split(".");
  return `${base64url.encode(JSON.stringify(header))}.${payload}.${signature}`;
}

async function hmacWithPublicKey(): Promise<string> {
  const key = new TextEncoder().encode(JSON.stringify(issuer.publicKey));
  const header = { alg: "HS256", kid: issuer.publicKey.kid ?? "" };
  return new SignJWT(await claimsOf()).setProtectedHeader(header).sign(key);
}

async function otherIssuers(): Promise<string> {
  const other = await TestIssuer.open();
  resources.add(() => other.close());
  return other.token({ issuer: issuer.url });
}

function altered(token: string): string {
  const [header, payload = "", signature] = token.split(".");
  const claims = JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as object;
  return `${header}.${base64url.encode(JSON.stringify({ ...claims, sub: "boss" }))}.${signature}`;
}
