import { describe, expect, test } from "vitest";
import { onlySent, withAdded } from "./sent-members.ts";

const sent = { amount: "40", to: { name: "Bob" }, lines: [{ item: 1 }], more: true };
const parsed = { amount: 40, to: { name: "Bob", id: "new" }, lines: [{ item: 1, id: "new" }], id: "new" };

test("leaves out what parsing has added, at every depth", () => {
  expect(onlySent(sent, parsed)).toEqual({ amount: 40, to: { name: "Bob" }, lines: [{ item: 1 }] });
});

describe("with what parsing has added", () => {
  test("what was sent stays as it was sent, at every depth", () => {
    expect(withAdded(sent, parsed)).toEqual({ ...parsed, amount: "40", more: true });
  });

  test("a member that objects inherit is added like any other", () => {
    expect(withAdded({}, { constructor: 1 })).toEqual({ constructor: 1 });
    expect(onlySent({}, { constructor: 1 })).toEqual({});
  });
});
