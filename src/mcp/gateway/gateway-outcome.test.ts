import { expect, test } from "vitest";
import { outcomeResult } from "./gateway-outcome.ts";

test("a result that could not be kept is told as a tool result, and one of the server's own passes as it is", () => {
  const warning = "the tool ran, but its result was not stored: it has 20 bytes of JSON; the limit is 10.";
  expect(outcomeResult({ status: "succeeded", result: { warning } })).toEqual({
    content: [{ type: "text", text: warning }],
  });
  const own = { content: [], warning };
  expect(outcomeResult({ status: "succeeded", result: own })).toBe(own);
});
