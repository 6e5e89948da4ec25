import { expect, test } from "vitest";
import { loginIn, type Served, startServed } from "../support/http/served.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { makeFolder } from "../support/processes/command-line.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

interface Listed {
  readonly items: readonly { readonly id: string; readonly user: string; readonly token?: string }[];
}

async function logIn(served: Served, user: string): Promise<Record<string, string>> {
  return loginIn(await served.send("/auth/login", { body: { token: await served.tokenFor(user) } }));
}

async function statusAt(served: Served, headers: Record<string, string>): Promise<number> {
  return (await served.send("/v1/me", { headers })).status;
}

const STORES: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => `sqlite:${await resources.folder()}/ledger.db`],
  ["PostgreSQL", () => createDatabase(resources)],
];

test.each(STORES)("on %s a login is listed, and ended on every server at once", async (_, place) => {
  const ledger = await place();
  const app = { feed: { heartbeatMs: 10, recheckMs: 0 } };
  const [here, there] = [
    await startServed(resources, { mode: "tokens", ledger, app }),
    await startServed(resources, { mode: "tokens", ledger, app }),
  ];
  const [ana, bob] = [await logIn(here, "ana"), await logIn(there, "bob")];
  const feed = await there.send("/v1/confirmations/stream", { headers: ana });
  expect(feed.status).toBe(200);
  const folder = makeFolder();
  const { items } = folder.json(["logins", "list", "--db", ledger]) as Listed;
  expect(items.map(({ user }) => user).toSorted()).toEqual(["ana", "bob"]);
  const listed = folder.run(["logins", "list", "--db", ledger]).stdout;
  for (const secret of Object.values(ana)) expect(listed).not.toContain(secret.split("=").at(-1));
  const id = items.find(({ user }) => user === "ana")?.id ?? "";
  expect(folder.run(["logins", "revoke", id, "--db", ledger])).toMatchObject({ code: 0 });
  for (const served of [here, there]) {
    expect(await statusAt(served, ana)).toBe(401);
    expect(await statusAt(served, bob)).toBe(200);
  }
  // Ends by itself; nothing more is to be read.
  await feed.text();
  const again = folder.run(["logins", "revoke", id, "--db", ledger]);
  expect([again.code, again.stdout]).toEqual([2, ""]);
  expect(again.stderr).toContain("There is no login");
});

test("what a token allows is looked up at each request, for the logins made with it too", async () => {
  const served = await startServed(resources, { mode: "tokens" });
  const { token, secret } = await served.tokens.create({
    user: "ana",
    kind: "agent",
    roles: [],
    scopes: ["run", "read", "decide"],
    createdBy: "local:test",
  });
  const headers = await loginIn(await served.send("/auth/login", { body: { token: secret } }));
  const me = await served.send("/v1/me", { headers });
  expect(await me.json()).toMatchObject({ principal: { id: "ana", kind: "agent" } });
  await served.tokens.revoke(token.id, "local:test");
  expect(await statusAt(served, headers)).toBe(401);
});
