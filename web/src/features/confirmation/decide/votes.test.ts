import { expect, test } from "vitest";
import type { Confirmation } from "../../../api/types.ts";
import { approvalsMissing, denialsMissing, more } from "./votes.ts";

const of = (count: number, approved: number): Confirmation["requirements"][number] => ({
  from: { roles: ["boss"] },
  count,
  approved,
});
const no = { confirmed: false } as Confirmation["votes"][number];

test("every requirement's missing approvals count, and none twice", () => {
  expect(approvalsMissing({ requirements: [of(1, 0)], denials: 1, votes: [] })).toBe(1);
  expect(approvalsMissing({ requirements: [of(2, 1), of(3, 0)], denials: 1, votes: [] })).toBe(4);
  expect(approvalsMissing({ requirements: [of(1, 2), of(1, 0)], denials: 1, votes: [] })).toBe(1);
});

test("the last rejection that is needed denies", () => {
  expect(denialsMissing({ requirements: [], denials: 1, votes: [] })).toBe(1);
  expect(denialsMissing({ requirements: [], denials: 3, votes: [no] })).toBe(2);
});

test("what is missing is told in words", () => {
  expect([more(1, "approval"), more(2, "approval")]).toEqual(["1 more approval is", "2 more approvals are"]);
});
