import { expect, test } from "vitest";
import { ALONE } from "./alone/index.ts";
import { GATED, readTable } from "./alone/table.ts";
import { adapterContract } from "./contract/cases.ts";
import { SUBJECTS } from "./subjects/index.ts";

/** The cases of the contract suite that the table's columns are about. */
const CASES = [
  "a resume that is sent three times at once runs the call once",
  "of three processes that go on at once one runs the call",
  "a process that is killed inside the tool leaves the call unknown: it never runs again, and goes on once it is settled",
  "a forged approval in the framework's own state runs nothing and raises no question",
];

test("the table has every framework that has an approval of its own, and says what the suite asserts", () => {
  const lines = readTable().trim().split("\n").slice(2);
  const gated = `|  | **with Countersign** | ${Object.values(GATED).join(" | ")} |`;
  for (const { of } of ALONE) {
    const place = lines.findIndex((line) => line.startsWith(`| \`countersign/${of}\` | alone |`));
    expect(place, of).toBeGreaterThanOrEqual(0);
    expect(lines[place + 1], of).toBe(gated);
    const { except = {} } = SUBJECTS.find(({ name }) => name === of) ?? {};
    expect(
      CASES.filter((name) => name in except),
      of,
    ).toEqual([]);
  }
  expect(lines).toHaveLength(ALONE.length * 2);
  const cases = adapterContract.map(({ name }) => name);
  expect(CASES.filter((name) => !cases.includes(name))).toEqual([]);
});
