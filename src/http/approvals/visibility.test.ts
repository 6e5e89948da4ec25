import { expect, test } from "vitest";
import { person } from "../../../test/attack/support/engine-fixture.ts";
import { maySee } from "./visibility.ts";

const rule = {
  requirements: [{ from: { users: ["ana", "bob"], notRequester: true }, count: 1 }],
  requesters: ["rita"],
};
const since = { id: "d", since: 0, until: 1, version: 1 };

test("a delegation shows a question to the delegate, and hides it from nobody whom the rule names", () => {
  expect(maySee(rule, person("leo"))).toBe(false);
  expect(maySee(rule, person("leo"), { delegations: [{ ...since, from: "ana", to: "leo" }] })).toBe(true);
  for (const [from, to] of [
    ["rita", "bob"],
    ["bob", "rita"],
  ] as const)
    expect(maySee(rule, person("bob"), { delegations: [{ ...since, from, to }] }), from).toBe(true);
});
