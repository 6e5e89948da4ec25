import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRequester, mayDecide, mayJudge, mayWithdraw, type Ruled } from "./authority.ts";
import { ANYBODY, type Approvers, type Principal, type PrincipalKind, toPrincipal } from "./principal.ts";
import { oneApproval } from "./requirement.ts";

const KINDS: readonly PrincipalKind[] = ["local", "token", "oidc", "channel", "provider", "agent", "author"];
const ANA = "ana";

function principal(given: Partial<Principal>): Principal {
  return { id: "zoe", kind: "oidc", roles: [], scopes: ["decide"], authenticated: true, ...given };
}

function ruled(approvers: Approvers, requesters: readonly string[] = [ANA]): Ruled {
  return { requirements: oneApproval(approvers), requesters };
}

function kindsAdmitted(approvers: Approvers, given: Partial<Principal>): readonly PrincipalKind[] {
  return KINDS.filter((kind) => mayDecide(ruled(approvers), principal({ ...given, kind })));
}

const ALL_BUT_AGENT = KINDS.filter((kind) => kind !== "agent");
/** Code of the host is nobody whom a rule can name. */
const PEOPLE = ALL_BUT_AGENT.filter((kind) => kind !== "provider" && kind !== "author");

test.each<[string, Approvers, Partial<Principal>, readonly PrincipalKind[]]>([
  ["requester: whoever asked", "requester", { id: ANA }, ALL_BUT_AGENT],
  ["requester: who acts for whoever asked", "requester", { onBehalfOf: ANA }, ALL_BUT_AGENT],
  [
    "requester: the host's own people, and no login of anybody else",
    "requester",
    {},
    ["local", "provider", "author"],
  ],
  [
    "requester: a role is no substitute",
    "requester",
    { roles: ["manager"] },
    ["local", "provider", "author"],
  ],
  ["roles: who has one of them", { roles: ["cfo", "manager"] }, { roles: ["manager"] }, PEOPLE],
  ["roles: who has another", { roles: ["manager"] }, { roles: ["Manager", "managers"] }, []],
  ["roles: a user of the role's name", { roles: ["manager"] }, { id: "manager" }, []],
  ["roles: whoever asked, with the role", { roles: ["manager"] }, { id: ANA, roles: ["manager"] }, PEOPLE],
  ["roles: whoever asked, without it", { roles: ["manager"] }, { id: ANA }, []],
  ["users: who is named", { users: ["zoe"] }, {}, PEOPLE],
  ["users: who is not", { users: ["max"] }, {}, []],
  ["users: who acts for one who is", { users: ["max"] }, { onBehalfOf: "max" }, []],
  ["users: a role of the user's name", { users: ["max"] }, { roles: ["max"] }, []],
  ["roles or users: either will do", { roles: ["manager"], users: ["zoe"] }, {}, PEOPLE],
  [
    "not the requester: somebody else with the role",
    { roles: ["manager"], notRequester: true },
    { roles: ["manager"] },
    PEOPLE,
  ],
  [
    "not the requester: whoever asked, with the role",
    { roles: ["manager"], notRequester: true },
    { id: ANA, roles: ["manager"] },
    [],
  ],
  [
    "not the requester: who acts for whoever asked",
    { roles: ["manager"], notRequester: true },
    { onBehalfOf: ANA, roles: ["manager"] },
    [],
  ],
  ["not the requester: named, but whoever asked", { users: [ANA], notRequester: true }, { id: ANA }, []],
  ["not the requester, nobody named: anybody else who is known", { notRequester: true }, {}, PEOPLE],
  ["not the requester, nobody named: whoever asked", { notRequester: true }, { id: ANA }, []],
  ["not the requester, nobody named: somebody unknown", { notRequester: true }, { authenticated: false }, []],
  ["not the requester, somebody named: anybody else", { users: ["max"], notRequester: true }, {}, []],
  ["an empty rule admits nobody", {}, { id: ANA, roles: ["manager"] }, []],
  ["empty lists admit nobody", { roles: [], users: [] }, { id: ANA }, []],
])("%s", (_, approvers, given, admitted) => {
  expect(kindsAdmitted(approvers, given)).toEqual(admitted);
});

const names = fc.constantFrom(ANA, "zoe", "max", "manager");
const rules: fc.Arbitrary<Approvers> = fc.oneof(
  fc.constant("requester" as const),
  fc.record(
    { roles: fc.array(names), users: fc.array(names), notRequester: fc.boolean() },
    { requiredKeys: [] },
  ),
);
const principals: fc.Arbitrary<Principal> = fc.record(
  {
    id: names,
    kind: fc.constantFrom(...KINDS),
    roles: fc.array(names),
    scopes: fc.array(names),
    authenticated: fc.boolean(),
    onBehalfOf: names,
  },
  { requiredKeys: ["id", "kind", "roles", "scopes", "authenticated"] },
);

test("an agent decides and withdraws nothing, whatever the rule and whoever it claims to be", () => {
  fc.assert(
    fc.property(rules, principals, fc.array(names), (approvers, who, requesters) => {
      const agent = { ...who, kind: "agent" as const };
      expect(mayDecide(ruled(approvers, requesters), agent)).toBe(false);
      expect(mayWithdraw(ruled(approvers, requesters), agent)).toBe(false);
    }),
  );
});

test("nobody who counts as the requester decides under notRequester", () => {
  fc.assert(
    fc.property(rules, principals, fc.array(names), (approvers, who, requesters) => {
      const rule = ruled(approvers, requesters);
      const apart = approvers !== "requester" && approvers.notRequester === true;
      expect(apart && isRequester(rule, who) && mayDecide(rule, who)).toBe(false);
    }),
  );
});

test("scopes and being on behalf of somebody else never add a right", () => {
  fc.assert(
    fc.property(rules, principals, (approvers, { onBehalfOf: _, ...who }) => {
      const rule = ruled(approvers);
      const more = { ...who, onBehalfOf: "max", scopes: ["decide", "admin"] };
      expect(mayDecide(rule, more)).toBe(mayDecide(rule, { ...who, scopes: [] }));
    }),
  );
});

test("a question is withdrawn by the requester or somebody who could decide it, and by no one else", () => {
  const rule = ruled({ roles: ["manager"], notRequester: true });
  expect(mayWithdraw(rule, principal({ id: ANA }))).toBe(true);
  expect(mayWithdraw(rule, principal({ onBehalfOf: ANA }))).toBe(true);
  expect(mayWithdraw(rule, principal({ roles: ["manager"] }))).toBe(true);
  expect(mayWithdraw(rule, principal({}))).toBe(false);
});

const NAMING: readonly Approvers[] = [
  { users: ["local"] },
  { roles: ["manager"] },
  { users: ["local"], notRequester: true },
  { notRequester: true },
];

test("without a login, whoever it is decides for the requester and nothing else, whatever a rule names", () => {
  const anybody = { ...ANYBODY, roles: ["manager"], scopes: ["decide", "admin"] };
  expect(mayDecide(ruled("requester"), anybody)).toBe(true);
  for (const approvers of NAMING) {
    expect(mayDecide(ruled(approvers), anybody), JSON.stringify(approvers)).toBe(false);
    expect(mayWithdraw(ruled(approvers), anybody), JSON.stringify(approvers)).toBe(false);
  }
});

test("whom a host names decides as the rule says, and so does a person called local who logged in", () => {
  expect(mayDecide(ruled({ users: ["boss"] }), toPrincipal({ id: "boss" }))).toBe(true);
  const host = toPrincipal({ id: "boss", roles: ["manager"] });
  expect(mayDecide(ruled({ roles: ["manager"] }), host)).toBe(true);
  const known = principal({ id: "local" });
  expect(mayDecide(ruled({ users: ["local"] }), known)).toBe(true);
});

describe("before any rule is asked", () => {
  test.each<[string, Partial<Principal>, boolean]>([
    ["a login with the scope decide", { scopes: ["run", "decide"] }, true],
    ["a login without it", { scopes: ["run", "read", "act-as", "admin"] }, false],
    ["a login about which nothing is said", { scopes: [] }, false],
    ["a token about which nothing is said", { kind: "token", scopes: [] }, false],
    ["a channel about which nothing is said", { kind: "channel", scopes: [] }, false],
    ["an agent with every scope", { kind: "agent", scopes: ["decide", "admin"] }, false],
    ["the host program's word", { kind: "local", scopes: [], authenticated: false }, true],
    ["somebody local who was given other scopes", { kind: "local", scopes: ["run"] }, false],
    ["a provider", { kind: "provider", scopes: [] }, true],
  ])("%s: %o may judge: %s", (_, given, may) => {
    expect(mayJudge(principal(given))).toBe(may);
  });
});
