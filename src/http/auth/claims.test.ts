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
  for (const scope of ["openid profile", "read decide", ["countersign:admin"], undefined]) {
    expect(toPerson({ sub: "ana", scope }, {})?.scopes).toEqual([]);
    expect(toPerson({ sub: "ana", scope }, {}, ["read"])?.scopes).toEqual(["read"]);
  }
});

test.each(["local", "local:root", "provider:clerk", "", " ", "a\u202eb"])(
  'an issuer cannot make somebody "%s"',
  (sub) => {
    expect(toPerson({ sub }, {})).toBeUndefined();
  },
);
