import { expect, test } from "vitest";
import type { PolicyCall } from "../engine/index.ts";
import { parsePolicy } from "./index.ts";
import { exampleCall } from "./testing/example-call.ts";

function denying(match: object): string {
  return `rules: [{ id: a, match: ${JSON.stringify(match)}, then: deny }]`;
}

/** Does a rule with this `match` deny the call? */
function denies(match: object, call: Partial<PolicyCall>): boolean {
  const policy = parsePolicy("p", denying(match));
  return [policy.judge(exampleCall(call)) ?? []].flat().length > 0;
}

test.each<[string, string, boolean]>([
  ["pay", "pay", true],
  ["pay", "pays", false],
  ["pay", "Pay", false],
  ["pay", "pay ", false],
  ["pay", "pay\n", false],
  ["pay*", "pay", true],
  ["pay*", "pay\nall", true],
  ["*pay", "repay", true],
  ["*pay", "payer", false],
  ["p*y", "py", true],
  ["p*a*y", "paaay", true],
  ["p*a*y", "pay\u0000", false],
  ["p?y", "pay", true],
  ["p?y", "py", false],
  ["p?y", "p😀y", true],
  ["p.y", "pay", false],
  ["p.*", "pay", false],
  ["pay|wipe", "pay", false],
  ["^pay$", "pay", false],
  ["(pay)+", "pay", false],
  ["bank.*", "bank.pay", true],
  ["**", "anything/at all", true],
  ["*", "constructor", true],
  ["constructor", "constructor", true],
])("the pattern %j and the tool %j: %s", (pattern, tool, expected) => {
  expect(denies({ tool: pattern }, { tool })).toBe(expected);
});

test.each(["", "[ab]pay", "{pay,wipe}", "!pay", "pay\\*"])(
  "the pattern %j is refused, not misread",
  (pattern) => {
    expect(() => denies({ tool: pattern }, {})).toThrow("match.tool");
  },
);

// One that tried every way to place the stars would not end.
test("a pattern with many stars is compared in bounded time", () => {
  expect(denies({ tool: `${"*a".repeat(200)}b` }, { tool: "a".repeat(5_000) })).toBe(false);
});

test("names that are joined the same way are told apart, also when one was judged before", () => {
  const policy = parsePolicy("p", denying({ tool: "pay", app: 'x","y' }));
  const judged = (app: string, agent: string): number =>
    [policy.judge(exampleCall({ app, agent })) ?? []].flat().length;
  expect(judged("x", 'y","z')).toBe(0);
  expect(judged('x","y', "z")).toBe(1);
  expect(judged("x", 'y","z')).toBe(0);
});

test("a rule about a server is about no tool without one, nor about a remote agent of that name", () => {
  for (const mcpServer of ["*", "bank"]) {
    expect(denies({ mcpServer }, { source: "bank" })).toBe(true);
    expect(denies({ mcpServer }, {})).toBe(false);
    expect(denies({ mcpServer }, { source: "bank", entryPoint: "remote" })).toBe(false);
  }
});

test("whoever made up more names than are remembered gets no other rules", () => {
  const policy = parsePolicy("p", denying({ tool: "pay" }));
  for (let i = 0; i < 2_500; i++) policy.judge(exampleCall({ agent: `agent-${i}`, tool: "look" }));
  expect(policy.judge(exampleCall())).toMatchObject([{ rule: "a" }]);
});
