import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { type Engine, toPrincipal } from "../../src/engine/index.ts";
import { parsePolicy } from "../../src/policy/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const RULES = `
rules:
  - { id: big, match: { tool: pay }, when: args.amount > 100.0, then: confirm, reason: large payments }
  - { id: watch, match: { tool: pay }, when: 'args.pin == "1"', then: deny, mode: observe }
tests:
  - { tool: pay, args: { amount: 500, pin: "2" }, expect: confirm, by: big }
`;
const LOOSE = RULES.replace("100.0", "1000.0").replace("amount: 500", "amount: 5000");

const by = toPrincipal({ id: "rita", kind: "token", authenticated: true, scopes: ["propose"] });
const boss = { id: "boss", kind: "local" } as const;

async function ask(engine: Engine, key: string, amount: number): Promise<string> {
  const call = { by, app: "shop", tool: "pay", key, args: { amount, pin: "2" }, requireConfirmation: false };
  const { confirmation } = await engine.callers.propose(call);
  return confirmation?.id ?? "";
}

/** Two that people approved, and one that they denied; gives the last. */
function record(folder: Folder): Promise<string> {
  return folder.withEngine(
    async (engine) => {
      for (const key of ["one", "two"]) await engine.approve(await ask(engine, key, 200), { by: boss });
      const denied = await ask(engine, "three", 300);
      await engine.deny(denied, { by: boss });
      return denied;
    },
    parsePolicy("policy.yaml", RULES),
  );
}

test("check names every problem with its place, and test runs the file's own tests", () => {
  const folder = makeFolder();
  folder.write("policy.yaml", RULES);
  folder.write(
    "typo.yaml",
    RULES.replace("args.amount >", "arg.amount >").replace("then: deny", "then: dney"),
  );
  folder.write("wrong.yaml", RULES.replace("expect: confirm", "expect: allow"));
  expect(folder.run(["policy", "check", "policy.yaml"])).toMatchObject({
    code: 0,
    stdout: "policy.yaml: no problems in 2 rules; 1 test not run; `policy test` does\n",
  });
  const { code, stdout } = folder.run(["policy", "check", "typo.yaml"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^typo\.yaml:3:\d+: .*"arg" is not known/m);
  expect(stdout).toMatch(/^typo\.yaml:4:\d+: .*then must be one of allow, confirm, deny/m);
  expect(folder.run(["policy", "test", "policy.yaml"])).toMatchObject({ code: 0 });
  const failed = folder.run(["policy", "test", "wrong.yaml"]);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/^wrong\.yaml:6:\d+: the test expects allow, but the policy says confirm/m);
});

test("explain tells which rules applied, what they saw, and how they were written then", async () => {
  const folder = makeFolder();
  const id = await record(folder);
  const told = folder.run(["policy", "explain", id]).stdout;
  expect(told).toContain("large payments");
  expect(told).toContain("big: confirm");
  expect(told).toContain("it saw args.amount = 300");
  expect(told).toContain("args.amount > 100.0");
  expect(folder.json(["policy", "explain", id])).toMatchObject({
    id,
    policy: [{ rules: [{ rule: "big", outcome: "confirm", facts: { "args.amount": 300 } }] }],
  });
  expect(folder.run(["policy", "explain", "nothing"]).code).toBe(3);
});

test("replay says what another file would have changed, and what people had decided", async () => {
  const folder = makeFolder();
  const denied = await record(folder);
  folder.write("loose.yaml", LOOSE);
  const { code, stdout } = folder.run(["policy", "replay", "loose.yaml", "--since", "1d"]);
  expect(code).toBe(0);
  const words = stdout.replaceAll(/\s+/g, " ");
  expect(words).toContain("would stop asking 3 times; people approved 2 and denied 1 of those");
  expect(words).toContain(denied);
  expect(folder.json(["policy", "replay", "loose.yaml"])).toMatchObject({
    calls: 3,
    stopsAsking: { count: 3, approved: 2, denied: 1, examples: [denied] },
  });
});

test("schema prints the JSON Schema, which fits the files of the cookbook", () => {
  const schema = makeFolder().json(["policy", "schema"]) as { readonly properties: object };
  const text = readFileSync(join(ROOT, "examples/policies/money.yaml"), "utf8");
  for (const [, member = ""] of text.matchAll(/^([a-zA-Z]+):/gm))
    expect(Object.keys(schema.properties), member).toContain(member);
});
