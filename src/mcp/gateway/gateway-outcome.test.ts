import { expect, test } from "vitest";
import { outcomeResult } from "./gateway-outcome.ts";

test("a result that could not be stored becomes a tool result, and a server's own result passes unchanged", () => {
  const warning = "the tool ran, but its result was not stored: it has 20 bytes of JSON; the limit is 10.";
  expect(outcomeResult({ status: "succeeded", result: { warning } })).toEqual({
    content: [{ type: "text", text: warning }],
  });
  const own = { content: [], warning };
  expect(outcomeResult({ status: "succeeded", result: own })).toBe(own);
});
