import { expect, test } from "vitest";
import { toPerson } from "./claims.ts";

test("roles come from a claim, from a path, or from a name that has dots in it", () => {
  expect(toPerson({ sub: "ana", roles: ["finance", 7] }, {})?.roles).toEqual(["finance"]);
  const nested = { sub: "ana", realm_access: { roles: ["finance"] } };
  expect(toPerson(nested, { rolesClaim: "realm_access.roles" })?.roles).toEqual(["finance"]);
  const dotted = { sub: "ana", "https://corp.test/roles": ["finance"] };
  expect(toPerson(dotted, { rolesClaim: "https://corp.test/roles" })?.roles).toEqual(["finance"]);
  expect(toPerson({ sub: "ana", groups: "finance" }, { rolesClaim: "groups" })?.roles).toEqual(["finance"]);
  for (const rolesClaim of ["none", "sub.length", "constructor.name", "__proto__"])
    expect(toPerson({ sub: "ana" }, { rolesClaim })?.roles, rolesClaim).toEqual([]);
});

test("an email is an identity only where the issuer verified it", () => {
  const idClaim = "email";
  expect(toPerson({ sub: "1", email: "ana@corp", email_verified: true }, { idClaim })?.id).toBe("ana@corp");
  for (const email_verified of [false, "true", 1, undefined])
    expect(toPerson({ sub: "1", email: "boss@corp", email_verified }, { idClaim })).toBeUndefined();
  expect(toPerson({ sub: "boss@corp", email_verified: true }, { idClaim })).toBeUndefined();
});

test("scopes are those that the token names as ours, and else what the settings say, which is none", () => {
  expect(toPerson({ sub: "ana", scope: "openid countersign:read" }, {}, ["run"])?.scopes).toEqual(["read"]);
  for (const scope of ["openid profile", "read decide", [], undefined]) {
    expect(toPerson({ sub: "ana", scope }, {})?.scopes).toEqual([]);
    expect(toPerson({ sub: "ana", scope }, {}, ["read"])?.scopes).toEqual(["read"]);
  }
});

test.each<[string, object]>([
  ["a list", { scope: ["openid", "countersign:read"] }],
  ["a list of Okta", { scp: ["openid", "countersign:read"] }],
  ["a text of Entra", { scp: "openid countersign:read" }],
  ["both, of which one is empty", { scope: "", scp: ["countersign:read"] }],
])("scopes in %s replace the default ones, which may go further", (_, claims) => {
  expect(toPerson({ sub: "ana", ...claims }, {}, ["run", "read", "decide"])?.scopes).toEqual(["read"]);
});

test.each<[string, object]>([
  ["a number", { scope: 7 }],
  ["an object", { scope: { "countersign:admin": true } }],
  ["a list with something else in it", { scp: ["countersign:admin", 7] }],
])("scopes in %s are not understood, so there are none", (_, claims) => {
  expect(toPerson({ sub: "ana", ...claims }, {}, ["run", "read", "decide"])?.scopes).toEqual([]);
});

test.each(["local", "local:root", "provider:clerk", "", " ", "a\u202eb"])(
  'an issuer cannot make somebody "%s"',
  (sub) => {
    expect(toPerson({ sub }, {})).toBeUndefined();
  },
);

test.each<[string, object]>([
  ["as RFC 9068 writes it", { sub: "planner", client_id: "planner" }],
  ["as issuers write it that name the client in azp", { sub: "planner", azp: "planner" }],
  ["of Auth0", { sub: "x1@clients", azp: "x1", gty: "client-credentials" }],
  ["of Entra", { sub: "7c", azp: "x1", idtyp: "app" }],
  ["of Entra, without the claim that says so", { sub: "7c", oid: "7c", tid: "t1", azp: "x1" }],
  ["of Entra, in its first version", { sub: "7c", oid: "7c", tid: "t1", appid: "x1" }],
  ["of Okta", { sub: "0oa1", cid: "0oa1" }],
  ["of Keycloak", { sub: "7c", azp: "x1", preferred_username: "service-account-x1" }],
])("a program's own token, %s, decides only by a scope that names it", (_, claims) => {
  const scopes = ["run", "read", "decide"] as const;
  expect(toPerson({ ...claims }, {}, scopes)?.scopes).toEqual(["run", "read"]);
  const named = { ...claims, scope: "countersign:decide" };
  expect(toPerson(named, {}, scopes)?.scopes).toEqual(["decide"]);
});

test("a person's token names the program that they use, and is theirs", () => {
  const claims = { sub: "ana", azp: "inbox", client_id: "inbox", gty: "password", idtyp: "user" };
  const entra = { oid: "7c", tid: "t1", appid: "inbox" };
  for (const more of [{}, { cid: "inbox" }, entra, { oid: "ana" }])
    expect(toPerson({ ...claims, ...more }, {}, ["run", "decide"])?.scopes).toEqual(["run", "decide"]);
});
