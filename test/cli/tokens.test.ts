import { expect, test } from "vitest";
import { Tokens } from "../../src/http/index.ts";
import { makeFolder } from "../support/processes/command-line.ts";

interface Made {
  readonly id: string;
  readonly token: string;
}

async function makeLedger(): Promise<ReturnType<typeof makeFolder>> {
  const folder = makeFolder();
  await folder.withEngine(async () => {});
  return folder;
}

test("a token is printed once, counts as its user, and is listed without its secret", async () => {
  const folder = await makeLedger();
  const args = [
    "--user",
    "ana",
    "--roles",
    "finance,audit",
    "--scopes",
    "run,read",
    "--expires",
    "30d",
    "--label",
    "laptop",
  ];
  const made = folder.json(["tokens", "create", ...args]) as Made;
  expect(made).toMatchObject({
    user: "ana",
    roles: ["finance", "audit"],
    scopes: ["run", "read"],
    label: "laptop",
  });
  await folder.withEngine(async ({ ledger }) => {
    expect(await new Tokens(ledger.items).read(made.token)).toMatchObject({
      principal: { id: "ana", kind: "token", roles: ["finance", "audit"], scopes: ["run", "read"] },
    });
  });
  const listed = folder.run(["tokens", "list"]);
  expect(listed.stdout).toContain(made.id);
  expect(listed.stdout).toContain("laptop");
  expect(`${listed.stdout}${JSON.stringify(folder.json(["tokens", "list"]))}`).not.toContain(
    made.token.slice(-43),
  );
});

test("without flags a token may run, read and decide, for 90 days", async () => {
  const folder = await makeLedger();
  const made = folder.json(["tokens", "create", "--user", "ana"]) as { expiresAt: string; createdAt: string };
  expect(made).toMatchObject({ scopes: ["run", "read", "decide"], roles: [] });
  const days = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  expect(folder.json(["tokens", "create", "--user", "ana", "--expires", "never"])).not.toHaveProperty(
    "expiresAt",
  );
});

test("a token for an agent may run and read by default, and is shown as an agent's", async () => {
  const folder = await makeLedger();
  const made = folder.json(["tokens", "create", "--user", "planner", "--kind", "agent"]) as Made;
  expect(made).toMatchObject({ kind: "agent", scopes: ["run", "read"] });
  await folder.withEngine(async ({ ledger }) => {
    expect(await new Tokens(ledger.items).read(made.token)).toMatchObject({
      principal: { id: "planner", kind: "agent", authenticated: true },
    });
  });
  expect(folder.run(["tokens", "list"]).stdout).toMatch(/planner {2}agent, scopes run read/);
});

test("a revoked token is worth nothing, by its id or by itself", async () => {
  const folder = await makeLedger();
  const [one, two] = [
    folder.json(["tokens", "create", "--user", "ana"]),
    folder.json(["tokens", "create", "--user", "bob"]),
  ] as Made[];
  expect(folder.run(["tokens", "revoke", one?.id ?? ""])).toMatchObject({ code: 0 });
  expect(folder.run(["tokens", "revoke", two?.token ?? ""]).stdout).toContain("revoked");
  await folder.withEngine(async ({ ledger }) => {
    for (const made of [one, two])
      expect(await new Tokens(ledger.items).read(made?.token ?? "")).toBeUndefined();
  });
  expect(folder.run(["tokens", "list"]).stdout.match(/revoked/g)).toHaveLength(2);
});

test.each([
  [["tokens", "create"], "--user"],
  [["tokens", "create", "--user", "local"], "reserved"],
  [["tokens", "create", "--user", "ana", "--scopes", "run,root"], `"root"`],
  [["tokens", "create", "--user", "ana", "--scopes", ","], "needs at least one scope"],
  [["tokens", "create", "--user", "ana", "--kind", "robot"], "person or agent"],
  [["tokens", "create", "--user", "ana", "--expires", "soon"], "--expires"],
  [["tokens", "revoke", "0123456789abcdef"], "There is no token"],
])("%j is refused with what is wrong", async (args, words) => {
  const folder = await makeLedger();
  const { code, stderr, stdout } = folder.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(words);
  expect(folder.json(["tokens", "list"])).toEqual({ items: [] });
});
