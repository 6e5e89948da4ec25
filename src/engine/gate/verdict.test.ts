import { expect, test } from "vitest";
import { oneApproval } from "../people/index.ts";
import { requirementsFor, rule, type Verdict } from "./verdict.ts";

const SOURCES = ["tool", "toolset", "manifest", "mcp", "remote", "policy", "hook"] as const;

function verdict(source: Verdict["source"], outcome: Verdict["outcome"]): Verdict {
  return { source, outcome, why: `${source} says ${outcome}` };
}

test("nobody says anything: the call is allowed", () => {
  expect(rule([])).toEqual({ outcome: "allow", why: [], requirements: [], authorOnly: false });
});

test.each(SOURCES)("a lone `confirm` of the %s makes the call need a person", (source) => {
  expect(rule([verdict(source, "confirm")])).toMatchObject({
    outcome: "confirm",
    why: [`${source} says confirm`],
  });
});

test.each(SOURCES)("`deny` of the policy is stricter than `confirm` of the %s", (source) => {
  const ruling = rule([verdict(source, "confirm"), verdict("policy", "deny")]);
  expect(ruling).toMatchObject({ outcome: "deny", why: ["policy says deny"] });
});

test.each(SOURCES.map((source) => [source, source === "policy" ? "allow" : "confirm"] as const))(
  "an `allow` rule beside a gate of the %s leaves it at %s",
  (source, outcome) => {
    const ruling = rule([verdict("policy", "allow"), verdict(source, "confirm")]);
    expect(ruling.outcome).toBe(outcome);
  },
);

test("all reasons are kept, in the order of the sources", () => {
  const { why } = rule(SOURCES.map((source) => verdict(source, "confirm")));
  expect(why).toEqual(SOURCES.map((source) => `${source} says confirm`));
});

test("the approvers are those of the first source that names any", () => {
  const requirements = oneApproval({ roles: ["finance"] });
  expect(rule([verdict("tool", "confirm"), { ...verdict("policy", "confirm"), requirements }])).toMatchObject(
    {
      requirements,
    },
  );
});

test.each([
  [["tool"], true],
  [["toolset"], true],
  [["tool", "toolset"], true],
  [["tool", "policy"], false],
  [["manifest"], false],
  [["mcp"], false],
  [["hook"], false],
] as const)("gates of %j are the author's own: %s", (sources, authorOnly) => {
  expect(rule(sources.map((source) => verdict(source, "confirm"))).authorOnly).toBe(authorOnly);
});

const CFO = { roles: ["cfo"] } as const;
const OPS = { users: ["ops"] } as const;

test.each([
  { author: "requester", ruled: undefined, result: "requester" },
  { author: "requester", ruled: OPS, result: OPS },
  { author: CFO, ruled: undefined, result: CFO },
  { author: CFO, ruled: "requester", result: CFO },
  { author: CFO, ruled: OPS, result: OPS },
  { author: { ...CFO, notRequester: true }, ruled: "requester", result: { ...CFO, notRequester: true } },
  { author: { ...CFO, notRequester: true }, ruled: OPS, result: { ...OPS, notRequester: true } },
] as const)("a rule's approvers never loosen the author's: $author, $ruled", ({ author, ruled, result }) => {
  const requirements = ruled === undefined ? [] : oneApproval(ruled);
  expect(requirementsFor(author, { requirements })).toEqual(oneApproval(result));
});
