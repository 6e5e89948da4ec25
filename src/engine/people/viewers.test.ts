import fc from "fast-check";
import { expect, test } from "vitest";
import { isRequester, mayDecide } from "./authority.ts";
import { ANYBODY, type Approvers, type Principal } from "./principal.ts";
import { oneApproval } from "./requirement.ts";
import { looksAsRequester, viewersOf, viewsAs } from "./viewers.ts";

const LONG = "x".repeat(5_000);
const name = fc.constantFrom(
  "ana",
  "bob",
  "local",
  "manager",
  "host",
  "known",
  "user:ana",
  "a\0",
  "\ud800",
  LONG,
);
const names = fc.uniqueArray(name, { maxLength: 3 });
const rule = fc.record({
  requirements: fc.array(
    fc
      .oneof(
        fc.constant<Approvers>("requester"),
        fc.record(
          { roles: names, users: names, notRequester: fc.boolean() },
          { requiredKeys: [] },
        ) as fc.Arbitrary<Approvers>,
      )
      .map((from) => ({ from, count: 1 })),
    { maxLength: 3 },
  ),
  requesters: names,
});
const principal: fc.Arbitrary<Principal> = fc.oneof(
  fc.constant(ANYBODY),
  fc
    .record({
      id: name,
      kind: fc.constantFrom("local", "token", "oidc", "channel", "provider", "agent", "author"),
      roles: names,
      scopes: fc.constant([]),
      authenticated: fc.boolean(),
      onBehalfOf: fc.option(name, { nil: undefined }),
    })
    .map(({ onBehalfOf, ...rest }) => ({
      ...rest,
      ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
    })) as fc.Arbitrary<Principal>,
);

function meet(shownTo: readonly string[], as: readonly string[]): boolean {
  return shownTo.some((word) => as.includes(word));
}

test("somebody looks as a viewer of a question exactly if they may decide it or asked for it", () => {
  fc.assert(
    fc.property(rule, principal, (ruled, who) => {
      const shownTo = viewersOf(ruled);
      expect(meet(shownTo, viewsAs(who))).toBe(mayDecide(ruled, who) || isRequester(ruled, who));
      expect(meet(shownTo, looksAsRequester(who))).toBe(isRequester(ruled, who));
    }),
    { numRuns: 2_000 },
  );
});

const ANAS = ["ana", "manager", "a\0"];
const ONE_PERSON = {
  group: () => undefined,
  person: (id: string) => (ANAS.includes(id) ? "ana" : id),
  logins: (id: string) => (ANAS.includes(id) ? ANAS : [id]),
};

test("every login of a person looks as the viewer of what the person asked for", () => {
  fc.assert(
    fc.property(rule, principal, (ruled, who) => {
      const shownTo = viewersOf(ruled);
      const asked = isRequester(ruled, who, ONE_PERSON);
      expect(meet(shownTo, viewsAs(who, ONE_PERSON))).toBe(mayDecide(ruled, who) || asked);
      expect(meet(shownTo, looksAsRequester(who, ONE_PERSON))).toBe(asked);
    }),
    { numRuns: 2_000 },
  );
});

test("every word fits an index of any store", () => {
  for (const word of viewersOf({
    requirements: oneApproval({ users: [LONG, "a\0"], roles: ["\ud800"] }),
    requesters: [LONG],
  })) {
    expect(word.length).toBeLessThan(210);
    expect(word).not.toContain("\0");
    expect(word.isWellFormed()).toBe(true);
  }
});
