import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { checkPolicy } from "../../src/policy/index.ts";

const FOLDER = join(ROOT, "examples/policies");
const guide = readFileSync(join(ROOT, "docs/guides/policy.md"), "utf8");
const recipes = readdirSync(FOLDER);

test.each(recipes)("the recipe %s is in the guide, and its tests pass", (name) => {
  const report = checkPolicy(name, readFileSync(join(FOLDER, name), "utf8"));
  expect(report).toMatchObject({ problems: [], failures: [] });
  expect(report.tests).toBeGreaterThan(3);
  expect(guide).toContain(`(../../examples/policies/${name})`);
});

test("the guide's own file can be used", () => {
  const [, text = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  expect(checkPolicy("guide", text)).toMatchObject({ rules: 1, tests: 2, problems: [], failures: [] });
});
