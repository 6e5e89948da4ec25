import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeFolder } from "../support/processes/command-line.ts";

const POLICY = `
rules:
  - { id: deploys, match: { tool: deploy }, then: confirm, require: [{ from: role:ops }], expires: 4h }
tests:
  - { tool: deploy, expect: confirm }
`;
const SMALL = ["--agents", "8", "--approvers", "1", "--days", "7"];

test("simulate prints a table, and the same numbers as JSON", () => {
  const folder = makeFolder();
  folder.write("policy.yaml", POLICY);
  const args = ["simulate", "--policy", "policy.yaml", ...SMALL];
  const found = folder.json([...args, "--json"]) as {
    readonly sample: number;
    readonly total: { readonly asked: number };
  };
  expect(found).toMatchObject({ sample: 1, seed: 1, agents: 8, approvers: 1, days: 7 });
  expect(found.total.asked).toBeGreaterThan(10);
  const { code, stdout, stderr } = folder.run(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("8 agents, 1 approvers, 7 days from 2027-01-04");
  expect(stdout).toContain(`Asked: ${found.total.asked}.`);
  expect(stdout).toMatch(/^2027-01-04 +\d+/m);
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("a sample says that it is one, and a scenario file is used", () => {
  const folder = makeFolder();
  folder.write("policy.yaml", POLICY);
  folder.write(
    "office.yaml",
    "calls: [{ tool: deploy, perAgentPerDay: 1 }]\nteams: [{ name: ops, people: 10, roles: [ops] }]\ndays: 7\n",
  );
  const args = ["simulate", "--policy", "policy.yaml", "--scenario", "office.yaml", "--agents", "80"];
  const { stdout } = folder.run([...args, "--sample", "0.1"]);
  expect(stdout).toContain("8 agents, 1 approvers");
  expect(stdout).toContain("This is 10 % of the scenario");
  expect(folder.run([...args, "--sample", "2"])).toMatchObject({ code: 2 });
  expect(folder.run(["simulate"]).stderr).toContain("`simulate` needs --policy FILE.");
});

test("the scenario in the guide is one that the command takes", () => {
  const guide = readFileSync(new URL("../../docs/guides/sizing.md", import.meta.url), "utf8");
  const [, scenario = ""] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
  const folder = makeFolder();
  folder.write("office.yaml", scenario);
  folder.write(
    "money.yaml",
    readFileSync(new URL("../../examples/policies/money.yaml", import.meta.url), "utf8"),
  );
  const ran = folder.run([
    "simulate",
    "--policy",
    "money.yaml",
    "--scenario",
    "office.yaml",
    "--days",
    "1",
    "--agents",
    "20",
  ]);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
});
