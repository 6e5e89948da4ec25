import { describe, expect, test } from "vitest";
import { type Approvers, oneApproval } from "../people/index.ts";
import { askingTerms } from "./card.ts";
import { escalationsFor } from "./escalations.ts";
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

test.each(SOURCES)("an `allow` rule beside a `confirm` of the %s cancels nothing", (source) => {
  const ruling = rule([verdict("policy", "allow"), verdict(source, "confirm")]);
  expect(ruling.outcome).toBe("confirm");
});

test("all reasons are kept, in the order of the sources", () => {
  const { why } = rule(SOURCES.map((source) => verdict(source, "confirm")));
  expect(why).toEqual(SOURCES.map((source) => `${source} says confirm`));
});

test("what all sources require adds up", () => {
  const finance = oneApproval({ roles: ["finance"] });
  const legal = [{ from: { users: ["leo"] }, count: 2 }];
  const asking = (requirements: Verdict["requirements"]): Verdict => ({
    ...verdict("policy", "confirm"),
    ...(requirements === undefined ? {} : { requirements }),
  });
  expect(
    rule([verdict("tool", "confirm"), asking(finance), asking(legal), asking(finance)]).requirements,
  ).toEqual([...finance, ...legal]);
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
const APART = { notRequester: true } as const;

test.each([
  { author: "requester", ruled: [], result: ["requester"] },
  { author: "requester", ruled: [OPS], result: [OPS] },
  { author: CFO, ruled: [], result: [CFO] },
  { author: CFO, ruled: ["requester"], result: [CFO, "requester"] },
  { author: "requester", ruled: ["requester", OPS], result: ["requester", OPS] },
  { author: "requester", ruled: ["requester", { ...OPS, ...APART }], result: [{ ...OPS, ...APART }] },
  { author: CFO, ruled: [OPS], result: [CFO, OPS] },
  { author: CFO, ruled: [OPS, CFO], result: [CFO, OPS] },
  { author: { ...CFO, ...APART }, ruled: ["requester"], result: [{ ...CFO, ...APART }] },
  {
    author: { ...CFO, ...APART },
    ruled: [OPS],
    result: [
      { ...CFO, ...APART },
      { ...OPS, ...APART },
    ],
  },
  {
    author: CFO,
    ruled: [{ ...OPS, ...APART }],
    result: [
      { ...CFO, ...APART },
      { ...OPS, ...APART },
    ],
  },
] as const)(
  "the author's and the rules' requirements add up: $author, $ruled",
  ({ author, ruled, result }) => {
    const requirements = ruled.flatMap((from) => oneApproval(from));
    expect(requirementsFor(author, { requirements })).toEqual(result.flatMap((from) => oneApproval(from)));
  },
);

test("of the same people the higher count is required, not the sum", () => {
  const requirements = [
    { from: { users: ["a", "b"] }, count: 2, group: "finance" },
    { from: { users: ["b", "a"] }, count: 1, group: "finance" },
  ];
  expect(requirementsFor("requester", { requirements })).toEqual([requirements[0]]);
});

test("the terms of all rules add up: all reminders and escalations, the fewest denials, and nobody who asked", () => {
  const one = { remindAfterMs: [1], escalate: [{ afterMs: 2, to: CFO }], denials: 3 };
  const other = { remindAfterMs: [5], escalate: [{ afterMs: 4, to: OPS }], denials: 2, notRequester: true };
  const ruling = rule([one, other].map((terms) => ({ ...verdict("policy", "confirm"), ...terms })));
  expect(ruling).toMatchObject({
    remindAfterMs: [1, 5],
    sources: [{ escalate: [{ to: CFO }] }, { escalate: [{ to: OPS }] }],
    denials: 2,
    notRequester: true,
  });
  const strict = rule([{ ...verdict("policy", "confirm"), ...one }, verdict("policy", "confirm")]);
  expect(strict).not.toHaveProperty("denials");
  expect(requirementsFor(CFO, ruling)).toEqual(oneApproval({ ...CFO, ...APART }));
});

function asks(terms: Partial<Verdict>): Verdict {
  return { ...verdict("policy", "confirm"), ...terms };
}

function filled(author: Approvers, verdicts: readonly Verdict[]) {
  const ruling = rule(verdicts);
  return escalationsFor(author, ruling.sources ?? [], requirementsFor(author, ruling));
}

describe("an escalation is for what its own rule requires", () => {
  const STRICT = asks({ requirements: [{ from: { users: ["ana", "bob"] }, count: 2 }] });
  const WEAK = asks({ requirements: oneApproval(OPS), escalate: [{ afterMs: 5, to: CFO }] });

  test("not for that of another rule, nor of the author", () => {
    expect(filled("requester", [STRICT, WEAK])).toEqual([{ afterMs: 5, to: CFO, fills: [1] }]);
    expect(filled({ roles: ["owner"] }, [WEAK])).toEqual([{ afterMs: 5, to: CFO, fills: [1] }]);
    expect(filled(OPS, [WEAK])).toEqual([]);
  });

  test("of a rule that requires nobody, for the requester and nobody else", () => {
    const bare = asks({ escalate: [{ afterMs: 5, to: CFO }] });
    expect(filled("requester", [bare])).toEqual([{ afterMs: 5, to: CFO, fills: [0] }]);
    expect(filled("requester", [bare, asks({ notRequester: true })])).toEqual([
      { afterMs: 5, to: CFO, fills: [0] },
    ]);
    expect(filled("requester", [bare, STRICT])).toEqual([]);
    expect(filled({ roles: ["owner"] }, [bare])).toEqual([]);
  });

  test("of the same people required by two rules, for none unless both name who fills in, and then the later", () => {
    expect(filled("requester", [WEAK, asks({ requirements: oneApproval(OPS) })])).toEqual([]);
    const later = asks({ requirements: oneApproval(OPS), escalate: [{ afterMs: 9, to: CFO }] });
    expect(filled("requester", [WEAK, later])).toEqual([{ afterMs: 9, to: CFO, fills: [0] }]);
  });
});

function notifying(...channels: readonly string[]): Verdict {
  return { ...verdict("policy", "confirm"), notify: channels };
}

describe("the channels that are told of a question", () => {
  test("are those of all rules that ask", () => {
    expect(rule([notifying("slack"), notifying("email", "slack")]).notify).toEqual(["email", "slack"]);
    expect(rule([notifying("slack"), verdict("tool", "allow")]).notify).toEqual(["slack"]);
    expect(rule([notifying()]).notify).toEqual([]);
  });

  test("are all of them where a rule names none, or no rule asks", () => {
    expect(rule([notifying("slack"), verdict("policy", "confirm")]).notify).toBeUndefined();
    expect(rule([verdict("tool", "confirm")]).notify).toBeUndefined();
  });

  test.each(SOURCES.filter((source) => source !== "policy"))(
    "are all of them where the %s asks, too",
    (source) => {
      expect(rule([notifying("slack"), verdict(source, "confirm")]).notify).toBeUndefined();
      expect(rule([notifying(), verdict(source, "confirm")]).notify).toBeUndefined();
    },
  );
});

describe("a link in a mail may decide", () => {
  const byMail = { ...verdict("policy", "confirm"), byMail: true };

  test("if every rule that asks allows it", () => {
    expect(rule([byMail, byMail]).byMail).toBe(true);
    for (const said of [undefined, false, "yes" as unknown as boolean]) {
      const { byMail: _allowed, ...silent } = byMail;
      const other = said === undefined ? silent : { ...byMail, byMail: said };
      expect(rule([byMail, other]).byMail).toBeUndefined();
    }
  });

  test.each(SOURCES.filter((source) => source !== "policy"))("never if the %s asks, too", (source) => {
    const other = { ...verdict(source, "confirm"), byMail: true };
    expect(rule([byMail, other]).byMail).toBeUndefined();
    expect(rule([other]).byMail).toBeUndefined();
  });
});

test.each<[string, Approvers, object]>([
  ["nobody, they are as many as the rules say", "requester", { denials: 2 }],
  ["people, one of them denies alone, as before", CFO, {}],
])("of the denials that are needed, where the author names %s", (_, author, expected) => {
  const ruling = rule([asks({ requirements: oneApproval(OPS), denials: 2 })]);
  expect(askingTerms(author, ruling, requirementsFor(author, ruling))).toEqual(expected);
});
