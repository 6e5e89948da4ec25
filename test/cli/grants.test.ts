import { expect, test } from "vitest";
import { type Policy, toPrincipal } from "../../src/engine/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const mayGrant: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  grants: { forMs: 5_400_000, count: 3, sum: { amount: 100 } },
});

const mayGrantAll: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  grants: { scope: "user", forMs: 5_400_000, count: 3 },
});

const by = toPrincipal({ id: "rita", kind: "token", authenticated: true, scopes: ["propose"] });
const call = { by, app: "shop", tool: "pay\u001b[2J", thread: "t1", args: { amount: 5 } };

/** One grant, and a call that ran under it. */
async function record(folder: Folder): Promise<{ readonly grant: string; readonly used: string }> {
  return folder.withEngine(async (engine) => {
    const { confirmation } = await engine.callers.propose({ ...call, key: "first" });
    const ana = { id: "ana", kind: "local" as const };
    await engine.approve(confirmation?.id ?? "", { by: ana, grant: {} });
    const used = await engine.callers.propose({ ...call, key: "second" });
    const [grant] = (await engine.grants({ by: ana })).items;
    return { grant: grant?.id ?? "", used: used.id };
  }, mayGrant);
}

test("grants are listed and revoked, and `show` says which one let a call run", async () => {
  const folder = makeFolder();
  const { grant, used } = await record(folder);
  const { code, stdout } = folder.run(["grants", "list"]);
  expect(code).toBe(0);
  expect(stdout).toContain(grant);
  expect(stdout).toContain("given by ana");
  expect(stdout).toContain("1 of 3 calls, 5 of 100 in sum of amount used");
  expect(stdout).not.toContain("\u001b[2J");
  expect(folder.json(["grants", "list"])).toMatchObject({ items: [{ id: grant, uses: 1 }] });

  const shown = folder.run(["show", used]).stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain(`allowed by grant ${grant} of ana`);
  expect(shown).toContain(`grant-used`);

  const revoked = folder.run(["grants", "revoke", grant, "--reason", "enough"]);
  expect(revoked.stdout).toContain(`Revoked: ${grant}, by local:`);
  expect(folder.run(["grants", "list"]).stdout).toBe("There are no grants.\n");
  expect(folder.run(["audit", "log"]).stdout).toMatch(/grant-revoked.*enough/);
  const unknown = folder.run(["grants", "revoke", "no.grant-no"]);
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain("[unknown-grant]");
});

test("`approve --grant` grants what `show` says may be granted, and nothing more", async () => {
  const folder = makeFolder();
  const id = await folder.withEngine(async (engine) => {
    const { confirmation } = await engine.callers.propose({ ...call, key: "first" });
    return confirmation?.id ?? "";
  }, mayGrant);
  const shown = folder.run(["show", id]).stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain("may grant for 90m, 3 calls, 100 in sum of amount");
  const tooMuch = folder.run(["approve", id, "--grant", '{"count":4}']);
  expect(tooMuch.code).not.toBe(0);
  expect(tooMuch.stderr).toContain("[grant-refused]");
  expect(folder.run(["approve", id, "--grant", '{"count":1}']).code).toBe(0);
  expect(folder.json(["grants", "list"])).toMatchObject({ items: [{ limits: { count: 1 } }] });
});

test("`show` says that a grant may be for all sessions, and `grants list` that one is", async () => {
  const folder = makeFolder();
  const ask = (key: string) =>
    folder.withEngine(
      (engine) => engine.callers.propose({ ...call, key, thread: key, requireConfirmation: false }),
      mayGrantAll,
    );
  const id = (await ask("first")).confirmation?.id ?? "";
  const shown = folder.run(["show", id]).stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain("may grant for 90m, 3 calls, in all sessions of the requester with this agent");
  expect(folder.run(["approve", id, "--grant", '{"scope":"user"}']).code).toBe(0);
  const used = await ask("second");
  expect(used).toMatchObject({ status: "allowed" });
  const listed = folder.run(["grants", "list"]).stdout.replaceAll(/\s+/g, " ");
  expect(listed).toContain("shop, all sessions, given in first, for rita");
  const { items } = folder.json(["grants", "list"]) as { readonly items: readonly { readonly id: string }[] };
  const [grant] = items;
  expect(grant).toMatchObject({ uses: 1, limits: { scope: "user" } });
  expect(folder.run(["grants", "revoke", grant?.id ?? ""]).code).toBe(0);
  expect(folder.run(["grants", "list"]).stdout).toBe("There are no grants.\n");
  expect(await ask("third")).toMatchObject({ status: "pending" });
});
