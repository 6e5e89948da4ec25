import { expect, test } from "vitest";
import { openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { type AskingOptions, checkAsking } from "./asking-options.ts";

const refused = (option: string) =>
  expect.objectContaining({ code: "invalid-option", details: { option } }) as Error;

test.each<[keyof AskingOptions, readonly unknown[]]>([
  [
    "approvers",
    [
      null,
      "Requester",
      "anyone",
      {},
      ["ana"],
      { role: ["x"] },
      { roles: [] },
      { roles: "x" },
      { users: [""] },
      { users: [1] },
      { roles: ["x"], notRequester: "yes" },
      { notRequester: false },
    ],
  ],
  ["expiresInMs", [null, "60000", Number.NaN, Number.POSITIVE_INFINITY, 0, -5, 1.5, 1e18]],
  ["amendable", [null, false, "note", [1], [""]]],
  ["secrets", [null, "/card", ["card"], [""], ["/card", "pin"], ["/a~2b"], [7]]],
  ["onDenied", [null, true, "Invoke"]],
])(
  "%s that nobody can have meant is refused, naming the option and what would be right",
  (option, values) => {
    for (const value of values) {
      const options = { [option]: value } as AskingOptions;
      expect(() => checkAsking("The tool pay", options), JSON.stringify(value)).toThrow(refused(option));
      expect(() => checkAsking("The tool pay", options)).toThrow(
        /^The tool pay has an invalid .*\. Use .*\.$/,
      );
    }
  },
);

test("what can be meant is taken", () => {
  const given: readonly AskingOptions[] = [
    {},
    { approvers: "requester", expiresInMs: 1, amendable: true, secrets: [], onDenied: "invoke" },
    { approvers: { roles: ["cfo"] }, amendable: [], secrets: ["/card", "/rows/*/pin", "/a~1b/m~0n"] },
    { approvers: { users: ["ana"], roles: [] }, expiresInMs: 365 * 86_400_000, amendable: ["note"] },
    { approvers: { notRequester: true } },
  ];
  for (const options of given) expect(() => checkAsking("x", options)).not.toThrow();
});

test("a gated function is refused where it is defined, for a misspelt option too: it would be a gate left open", async () => {
  const { engine } = await openEngineFixture();
  const define = (options: object) => () => engine.gate("pay", options, async () => "paid");
  expect(define({ requireConfirmation: true, approvers: { role: ["cfo"] } })).toThrow(refused("approvers"));
  expect(define({ requireConfirmation: true, secrets: ["card"] })).toThrow(refused("secrets"));
  expect(define({ requireConfirmaton: true })).toThrow(refused("requireConfirmaton"));
});
