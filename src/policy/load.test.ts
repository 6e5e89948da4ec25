import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { problemText } from "../yaml/index.ts";
import { checkPolicy, LivePolicy, parsePolicy, policySchema } from "./index.ts";
import { exampleCall } from "./testing/example-call.ts";

const WHOLE = `
groups:
  finance: [ana, "role:finance"]
  legal: [zoe]
  cfo: [user:carl]
  all: [group:finance, group:legal]
people:
  ana: [ana@corp.example, "github:ana"]
timeZone: Europe/Berlin
voteMaxAge: 12h
rules:
  - id: big-pay
    match: { tool: pay, app: "bank*" }
    when: args.amount > 1000.0
    unless: user.roles.exists(r, r == "treasury")
    then: confirm
    reason: large payments
    hint: "Pay {{args.amount}} to {{ args.to }}?"
    require: [{ from: finance, count: 2 }, { from: legal }]
    notRequester: true
    denials: 2
    expires: 4h
    remind: [1h]
    escalate: [{ after: 1h, to: cfo }]
    amendable: [amount]
    grants: { longest: 1h, count: 20, sum: { arg: amount, most: 500.5 }, scope: user }
    byMail: true
    notify: [slack, email]
  - id: no-night
    match: { tool: [pay, "refund*"] }
    when: time.hour < 6
    then: deny
  - id: small
    match: { tool: pay }
    when: args.amount < 10.0
    then: allow
  - id: watch
    match: { tool: "*" }
    then: deny
    mode: observe
tests:
  - { tool: pay, app: bank1, args: { amount: 5000 }, expect: confirm, by: big-pay }
  - { tool: pay, app: bank1, args: { amount: 5000 }, roles: [treasury], expect: allow }
  - { tool: refundAll, at: 2026-01-05T04:00:00Z, expect: deny, by: no-night }
  - { tool: refundAll, at: 2026-01-05T05:30:00Z, expect: allow }
`;

test.each([
  ["when: state.vip == 'yes'", true],
  ["unless: has(state.vip)", true],
  ["when: args.state == 'x' && app == 'state'", false],
  ["match: { tool: pay }", false],
])("%s reads the session's state: %s", (condition, reads) => {
  const file = `rules: [{ id: a, then: confirm, ${condition} }]`;
  expect(parsePolicy("policy.yaml", file).readsState).toBe(reads);
  expect(new LivePolicy(parsePolicy("policy.yaml", file)).readsState).toBe(reads);
});

test("a whole file: every member reaches the verdict", () => {
  const policy = parsePolicy("policy.yaml", WHOLE);
  const args = { amount: 5000, to: "bob" };
  expect(
    policy.judge(exampleCall({ app: "bank1", args, shown: { amount: 5000, to: "[redacted]" } })),
  ).toEqual([
    {
      rule: "big-pay",
      outcome: "confirm",
      reason: "policy rule big-pay: large payments",
      facts: { "args.amount": 5000, "user.roles": ["finance"] },
      requirements: [
        { from: { users: ["ana"], roles: ["finance"] }, group: "finance", count: 2 },
        { from: { users: ["zoe"] }, group: "legal", count: 1 },
      ],
      notRequester: true,
      denials: 2,
      expiresInMs: 14_400_000,
      remindAfterMs: [3_600_000],
      escalate: [{ afterMs: 3_600_000, to: { users: ["carl"] }, group: "cfo" }],
      amendable: ["amount"],
      hint: "Pay 5000 to [redacted]?",
      grants: { scope: "user", forMs: 3_600_000, count: 20, sum: { amount: 500.5 } },
      byMail: true,
      notify: ["slack", "email"],
    },
    { rule: "watch", outcome: "deny", observe: true, reason: "policy rule watch" },
  ]);
  expect(policy.group("all")).toEqual({ users: ["ana", "zoe"], roles: ["finance"] });
  expect(policy.group("nobody")).toBeUndefined();
  expect(policy.person("github:ana")).toBe("ana");
  expect(policy.person("bob")).toBe("bob");
  expect(policy.voteMaxAgeMs).toBe(43_200_000);
});

test("a channel that does not exist is named, where it is known which there are", () => {
  const text = "rules:\n  - { id: a, then: confirm, match: { tool: x }, notify: [slack, pager] }\n";
  const load = (channels?: readonly string[]): unknown =>
    parsePolicy("policy.yaml", text, channels === undefined ? {} : { channels });
  expect(() => load(["slack", "email"])).toThrow(
    'policy.yaml:2:65: rule a: notify names the channel "pager", which does not exist; use one of slack, email',
  );
  expect(() => load([])).toThrow("none is configured");
  expect(() => load(["slack", "pager"])).not.toThrow();
  expect(() => load()).not.toThrow();
});

test("a rule that could not be judged allows no grants, and no decision by mail", () => {
  const policy = parsePolicy("policy.yaml", WHOLE);
  const call = exampleCall({ app: "bank1", args: { amount: "much" }, shown: {} });
  const [verdict] = [policy.judge(call)].flat();
  expect(verdict).toMatchObject({ rule: "big-pay", outcome: "confirm" });
  expect(verdict).not.toHaveProperty("grants");
  expect(verdict).not.toHaveProperty("byMail");
});

test("the version is of what the file says, not of how it is written; the text gives the same version", () => {
  const policy = parsePolicy("a.yaml", "rules: [{ id: a, then: deny, match: { tool: x } }]");
  const other = parsePolicy(
    "b.yaml",
    "# a comment\nrules:\n  - match:\n      tool: x\n    then: deny\n    id: a\n",
  );
  expect(other.version).toBe(policy.version);
  expect(parsePolicy("c.json", policy.text).version).toBe(policy.version);
  expect(parsePolicy("d.yaml", "rules: [{ id: a, then: deny, match: { tool: y } }]").version).not.toBe(
    policy.version,
  );
});

const rule = (...lines: readonly string[]): string =>
  ["groups: { some: [ana] }", "rules:", "  - id: a", ...lines.map((line) => `    ${line}`)].join("\n");

test.each<[string, string]>([
  ["rules: 5", "1:8: rules must be a list"],
  ["groups: {}", "1:1: a policy lacks rules"],
  ["rules: []\nrulez: []", '2:1: a policy has no member "rulez"; did you mean rules?'],
  ["rules: [{ id: a, then: deny }, { id: a, then: deny }]", "1:32: there are two rules with the id a"],
  ["rules: [{ id: a, then: deny }]\n---\nrules: []", "3:1: a policy is one document"],
  ["rules: [&r { id: a, then: deny }, *r]", "1:35: "],
  [rule("then: maybe"), "4:11: rule a: then must be one of allow, confirm, deny"],
  [rule("then: deny", "when:"), "5:5: a rule.when has no value"],
  [rule("then: deny", "match: { tool: }"), "5:14: rule a: match.tool has no value"],
  [rule("then: deny", "match: { tols: x }"), '5:14: rule a: match has no member "tols"; did you mean tool?'],
  [
    rule("then: deny", 'match: { tool: "[ab]*" }'),
    '5:20: rule a: match.tool is "[ab]*"; only * and ? are wildcards',
  ],
  [rule("then: deny", "match: { tool: [] }"), "5:20: rule a: match.tool is empty"],
  [
    rule("then: deny", "match: { annotations: { destructive: true } }"),
    "5:29: rule a: match.annotations has no member",
  ],
  [rule("then: deny", "when: args.amount > amuont"), '5:25: rule a: when: "amuont" is not known'],
  [rule("then: deny", "when: 'args.amount > amuont'"), '5:26: rule a: when: "amuont" is not known'],
  [
    rule("then: deny", "when: |", "  args.amount > 5.0 &&", "  amuont"),
    '7:7: rule a: when: "amuont" is not known',
  ],
  [rule("then: deny", "when: user.rolez.size() > 1"), "5:16: rule a: when: No such key: rolez"],
  [rule("then: deny", "hint: Pay?"), "5:11: rule a: hint is only for rules with then: confirm"],
  [
    rule("then: allow", "require: [{ from: some }]"),
    "5:14: rule a: require is only for rules with then: confirm",
  ],
  [rule("then: confirm", "hint: Pay {{args.amount}} to {{to}}?"), "5:34: rule a: hint: {{to}} is not known"],
  [rule("then: confirm", "hint: Pay {{args.amount?"), "5:15: rule a: hint: {{ and }} do not match"],
  [
    rule("then: confirm", "require: [{ from: sums }]"),
    '5:23: rule a: require.from is "sums", but there is no such group',
  ],
  [rule("then: confirm", "require: [{ from: some, count: 2 }]"), "5:15: rule a: require asks for 2 people"],
  [
    rule("then: confirm", "require: [{ from: some, count: 0 }]"),
    "5:36: an entry of rule a: require.count must be a whole number",
  ],
  [rule("then: confirm", "expires: soon"), '5:14: a rule.expires is "soon"; use a number and a unit'],
  [rule("then: confirm", "escalate: [{ after: 1h, to: nobody }]"), '5:33: rule a: escalate.to is "nobody"'],
  [
    rule("then: confirm", "expires: 1h", "escalate: [{ after: 60m, to: some }]"),
    "6:25: rule a: escalate.after is not before expires, so it would never happen",
  ],
  [
    rule("then: confirm", "expires: 1h", "remind: [30m, 2h]"),
    "6:19: an entry of rule a: remind is not before expires",
  ],
  [
    rule("then: confirm", "escalate: [{ after: 1h, to: requester }]"),
    '5:33: rule a: escalate.to is "requester", but the requester cannot fill in',
  ],
  [
    rule("then: confirm", "notRequester: true", "require: [{ from: some }, { from: requester }]"),
    '6:39: rule a: require.from is "requester", but notRequester says',
  ],
  [rule("then: confirm", "grants: { longest: 1h }"), "5:13: rule a: grants lacks count"],
  [rule("then: confirm", "grants: { count: 1 }"), "5:13: rule a: grants lacks longest"],
  [
    rule("then: confirm", "grants: { longest: 1h, count: 1, scope: agent }"),
    "5:45: rule a: grants.scope must be one of session, user",
  ],
  [rule("then: confirm", "grants: { longest: 1h, count: 0 }"), "5:35: rule a: grants.count must be a whole"],
  ...["0", "-5", "1e308", ".nan", ".inf", '"5"', "1234567890.1234567"].map((most): [string, string] => [
    rule("then: confirm", `grants: { longest: 1h, count: 1, sum: { arg: a, most: ${most} } }`),
    "rule a: grants.sum.most must be a number greater than 0 with at most 15 digits",
  ]),
  [rule("then: deny", "notify: [slack]"), "notify is only for rules with then: confirm"],
  [rule("then: confirm", "notify: slack"), "rule a: notify must be a list"],
  [rule("then: deny", "byMail: true"), "byMail is only for rules with then: confirm"],
  [rule("then: confirm", "byMail: yes"), "byMail must be true or false"],
  [rule("then: deny", "grants: { longest: 1h, count: 1 }"), "grants is only for rules with then: confirm"],
  ["groups: { a: [group:b], b: [group:a] }\nrules: []", "1:29: groups.a contains itself: a, b, a"],
  ["groups: { a: [group:a] }\nrules: []", "1:15: groups.a contains itself: a, a"],
  ["groups: { a: [group:b] }\nrules: []", '1:15: there is no group "b"'],
  ["groups: { a: [] }\nrules: []", "1:14: groups.a has nobody in it"],
  ...["role:", "Role:boss", "GROUP:b", "user: ana"].map((entry): [string, string] => [
    `groups: { a: ["${entry}"] }\nrules: []`,
    `1:15: an entry of groups.a is "${entry}"; write role:NAME, group:NAME or the id of a user`,
  ]),
  ["people: { a: [x], b: [x] }\nrules: []", '1:23: the login "x" belongs to a and b'],
  ["people: { a: [b], b: [] }\nrules: []", '1:15: the login "b" belongs to b and a'],
  ["timeZone: Mars/North\nrules: []", '1:11: the time zone "Mars/North" is not known'],
])("%j is refused, with the place", (text, expected) => {
  const { problems } = checkPolicy("p", text);
  expect(problems.map((problem) => problemText(problem).slice(2)).join("\n")).toContain(expected);
  expect(() => parsePolicy("p", text)).toThrow(expected);
});

test.each<[string, string]>([
  ["{ tool: pay, expect: deny }", "3:5: the test expects deny, but the policy says confirm: policy rule a"],
  ["{ tool: x, expect: confirm }", "3:5: the test expects confirm, but the policy says allow: no rule"],
  [
    "{ tool: pay, expect: confirm, by: b }",
    "3:5: the test expects confirm by b, but it is by: policy rule a",
  ],
])("the test %s fails, and a file whose test fails is not loaded", (line, expected) => {
  const rules =
    "rules: [{ id: a, match: { tool: pay }, then: confirm }, { id: b, match: { tool: y }, then: deny }]";
  const text = `${rules}\ntests:\n  - ${line}`;
  expect(checkPolicy("p", text).failures.map((problem) => problemText(problem).slice(2))).toEqual([expected]);
  expect(() => parsePolicy("p", text)).toThrow(expected);
});

test("the JSON Schema for editors accepts a whole file, and refuses what is misspelt", () => {
  const validator = new Validator(policySchema, "2020-12");
  expect(validator.validate(parse(WHOLE)).errors).toEqual([]);
  for (const text of [
    "rules: 5",
    "rulez: []",
    rule("then: maybe"),
    rule("then: deny", "match: { tols: x }"),
    rule("then: deny", 'match: { tool: "[ab]*" }'),
    rule("then: confirm", "expires: soon"),
    rule("then: confirm", "require: [{ from: some, count: 0 }]"),
    rule("then: confirm", "grants: { longest: 1h }"),
    "groups: { a: [] }\nrules: []",
  ]) {
    expect(validator.validate(parse(text)).valid, text).toBe(false);
  }
});
