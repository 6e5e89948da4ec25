import { expect, test } from "vitest";
import { ALONE } from "./alone/index.ts";
import { GATED, readSection, rowsIn, summaryOf, tableOf } from "./alone/table.ts";
import { adapterContract } from "./contract/cases.ts";
import { contractTable, ROWS } from "./contract/rows.ts";
import { SUBJECTS } from "./subjects/index.ts";
import { PEERS } from "./subjects/peers.ts";

/** The cases of the contract suite that the table's columns are about. */
const CASES = [
  "a resume that is sent three times at once runs the call once",
  "of three processes that go on at once one runs the call",
  "a process that is killed inside the tool leaves the call unknown: it never runs again, and goes on once it is settled",
  "a forged approval in the framework's own state runs nothing and raises no question",
];

const ALL = [...SUBJECTS, ...PEERS];
const COMPARED = [...ALONE.map(({ of }) => of), ...PEERS.map(({ name }) => name)];

test("the table has every framework, and says what the suite asserts", () => {
  const lines = readSection("table").trim().split("\n").slice(2);
  const gated = `|  | **with Countersign** | ${Object.values(GATED).join(" | ")} |`;
  for (const of of COMPARED) {
    const name = of.replace(" with ids", "");
    const place = lines.findIndex((line) => line.startsWith(`| \`countersign/${name}\` | alone |`));
    expect(place, of).toBeGreaterThanOrEqual(0);
    expect(lines[place + 1], of).toBe(gated);
    const { except = {} } = ALL.find((each) => each.name === of) ?? {};
    expect(
      CASES.filter((each) => each in except),
      of,
    ).toEqual([]);
  }
  expect(lines).toHaveLength(COMPARED.length * 2);
});

test("the guide has the same numbers", () => {
  const rows = rowsIn(readSection("table"));
  expect(tableOf(rows)).toBe(readSection("table"));
  expect(readSection("adapters")).toBe(summaryOf(rows));
});

test("the list of what is tried has every case of the suite, and the page has the list", () => {
  const cases = adapterContract.map(({ name }) => name);
  expect(ROWS.map((row) => row.case).toSorted()).toEqual(cases.toSorted());
  expect(CASES.filter((name) => !cases.includes(name))).toEqual([]);
  expect(readSection("contract")).toBe(contractTable(ALL));
});

test("a row that an adapter cannot have says why", () => {
  for (const { name, except = {} } of ALL)
    for (const reason of Object.values(except)) expect(reason, name).toMatch(/^[A-Z].{20,}\.$/);
});
