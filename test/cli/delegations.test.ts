import { expect, test } from "vitest";
import { setLoginMode } from "../../src/engine/index.ts";
import { makeFolder } from "../support/processes/command-line.ts";

test("an operator lets somebody vote for a person, sees it, and revokes it; where people log in, only aloud", async () => {
  const folder = makeFolder();
  await folder.withEngine(async () => {});
  const words = ["delegations", "add", "--from", "ana", "--to", "bob", "--for", "2d", "--tools", "pay*"];
  const made = folder.json(words) as { readonly id: string };
  expect(made).toMatchObject({ from: "ana", to: "bob", scope: { tool: ["pay*"] } });
  expect(folder.run(["delegations", "list"]).stdout).toContain("bob votes for ana until");
  await folder.withEngine(({ ledger }) => setLoginMode(ledger.items, "tokens"));
  const refused = folder.run(["delegations", "revoke", made.id]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("--break-glass");
  expect(folder.run(["delegations", "revoke", made.id, "--break-glass"]).stdout).toContain("Revoked:");
  const told = await folder.withEngine(async ({ ledger }) => {
    const records = await ledger.journal.records({ after: 0, limit: 10 });
    return records.map(({ kind, body }) => [kind, (body as { readonly via?: string }).via]);
  });
  expect(told).toEqual([
    ["delegation-made", "cli"],
    ["delegation-revoked", "cli:break-glass"],
  ]);
});
