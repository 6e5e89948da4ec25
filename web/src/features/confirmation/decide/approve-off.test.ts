import { expect, test } from "vitest";
import type { Confirmation } from "../../../api/types.ts";
import { approveOff, decideOff, type Readiness } from "./approve-off.ts";

const ready = (change: Partial<Readiness> = {}, given: Partial<Confirmation> = {}): Readiness => ({
  confirmation: {
    status: "requested",
    requirements: [{ from: { roles: ["boss"], users: ["eva"], notRequester: true }, count: 1, approved: 0 }],
    requesters: ["ana"],
    denials: 1,
    votes: [],
    can: { decide: true, amend: false, cancel: false },
    ...given,
  } as Confirmation,
  unseen: { folded: 0, unsaved: 0, below: 0 },
  settled: true,
  now: 0,
  online: true,
  ...change,
});

test("approving is on only when everything was seen, is settled, complete, in time and connected", () => {
  expect(approveOff(ready())).toBeUndefined();
  expect(approveOff(ready({ unseen: { folded: 2, unsaved: 1, below: 1 } }))).toContain("2 collapsed parts");
  expect(approveOff(ready({ unseen: { folded: 0, unsaved: 1, below: 1 } }))).toContain(
    "the file that is not shown",
  );
  expect(approveOff(ready({ unseen: { folded: 0, unsaved: 2, below: 0 } }))).toContain("the 2 files");
  expect(approveOff(ready({ unseen: { folded: 0, unsaved: 0, below: 1 } }))).toContain("Scroll to the end");
  expect(approveOff(ready({ settled: false }))).toContain("has just changed");
  expect(approveOff(ready({ online: false }))).toContain("Not connected");
  expect(approveOff(ready({ fault: "Not complete." }))).toBe("Not complete.");
  expect(approveOff(ready({ now: 10 }, { expiresAt: new Date(5).toISOString() }))).toBe(
    "The deadline has passed.",
  );
  expect(approveOff(ready({}, { status: "denied" }))).toBe("It has been answered.");
});

test("what is shown only in part cannot be approved, but can be rejected", () => {
  expect(approveOff(ready({}, { truncated: true }))).toContain("is shortened here");
  expect(decideOff(ready({}, { truncated: true }))).toBeUndefined();
});

test("whoever is one person with the requester can reject, and is told why they cannot approve", () => {
  const can = { decide: true, amend: false, cancel: false, onlyDeny: true } as const;
  expect(approveOff(ready({}, { can }))).toContain("one person with the requester");
  expect(decideOff(ready({}, { can }))).toBeUndefined();
});

test("whoever may not decide is told who may", () => {
  const can = { decide: false, amend: false, cancel: false };
  expect(decideOff(ready({}, { can }))).toBe(
    "Only eva, anyone with the role boss, but not the requester (ana) may decide this.",
  );
  expect(decideOff(ready({}, { can, requirements: [{ from: "requester", count: 1, approved: 0 }] }))).toBe(
    "Only the requester (ana) may decide this.",
  );
});

test("rejecting needs nothing to be opened or filled in", () => {
  expect(decideOff(ready({ unseen: { folded: 3, unsaved: 1, below: 1 }, fault: "x" }))).toBeUndefined();
});

test("whoever has voted is told what is missing", () => {
  const can = { decide: false, amend: false, cancel: false };
  const requirements = [{ from: { roles: ["boss"] }, count: 3, approved: 1 }];
  const votes = [{ confirmed: true, by: { id: "eva" } }] as unknown as Confirmation["votes"];
  expect(decideOff(ready({ me: "eva" }, { can, requirements, votes }))).toBe(
    "You have approved it. 2 more approvals are needed.",
  );
  expect(decideOff(ready({ me: "bo" }, { can, requirements, votes }))).toMatch(/^Only/);
});
