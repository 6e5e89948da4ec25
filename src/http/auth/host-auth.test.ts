import { expect, test } from "vitest";
import { mayDecide, oneApproval, type PrincipalInput } from "../../engine/index.ts";
import { authOf } from "./host-auth.ts";
import { noAuth } from "./no-auth.ts";

const REQUEST = new Request("http://localhost/");

test("whom the host names is authenticated, with the usual scopes and no roles", async () => {
  const auth = authOf({ authenticate: () => ({ id: "bob" }) });
  expect(auth.name).toBe("host");
  expect(await auth.authenticate(REQUEST)).toEqual({
    id: "bob",
    kind: "token",
    roles: [],
    scopes: ["run", "read", "decide"],
    authenticated: true,
  });
});

test("somebody who logged in to the host is not taken for the local user", async () => {
  const bob = await authOf({ authenticate: async () => ({ id: "bob" }) }).authenticate(REQUEST);
  if (bob === undefined) throw new Error("nobody");
  expect(mayDecide({ requirements: oneApproval("requester"), requesters: ["ana"] }, bob)).toBe(false);
  expect(mayDecide({ requirements: oneApproval("requester"), requesters: ["bob"] }, bob)).toBe(true);
});

test("what the host says beside the id counts", async () => {
  const said = { id: "bot", kind: "agent", roles: ["manager"], scopes: ["run"] } as const;
  expect(await authOf({ authenticate: () => said }).authenticate(REQUEST)).toEqual({
    ...said,
    authenticated: true,
  });
});

test("nobody, and somebody without an id, is nobody", async () => {
  for (const input of [undefined, { id: "" }, { id: 7 as unknown as string }])
    expect(await authOf({ authenticate: () => input }).authenticate(REQUEST)).toBeUndefined();
});

test("nobody logs in under an id of those who did not", async () => {
  for (const id of ["local", "local:ana", "provider:shop"])
    await expect(authOf({ authenticate: () => ({ id }) }).authenticate(REQUEST)).rejects.toThrow("reserved");
  const here = { id: "local:ana", kind: "local" } as const;
  expect(await authOf({ authenticate: () => here }).authenticate(REQUEST)).toMatchObject(here);
});

test.each([
  ["scopes as one text", { scopes: "openid undecided" }],
  ["scopes that are no texts", { scopes: [7] }],
  ["roles as one text", { roles: "manager" }],
  ["no list of scopes", { scopes: null }],
])("%s name nobody", async (_, said) => {
  const input = { id: "bob", ...said } as unknown as PrincipalInput;
  await expect(authOf({ authenticate: () => input }).authenticate(REQUEST)).rejects.toThrow(
    "list of strings",
  );
});

test("cannot be combined: without any it is none, and two are refused", () => {
  expect(authOf({})).toBe(noAuth);
  expect(() => authOf({ auth: noAuth, authenticate: () => undefined })).toThrow("cannot be combined");
});
