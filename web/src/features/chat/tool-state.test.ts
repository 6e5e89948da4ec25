import { expect, test } from "vitest";
import type { Confirmation, JsonObject, Status } from "../../api/types.ts";
import type { ToolItem } from "./talk.ts";
import { toolState } from "./tool-state.ts";

const call = (result?: JsonObject): ToolItem =>
  ({ kind: "tool", tool: "pay", args: {}, ...(result === undefined ? {} : { result }) }) as ToolItem;
const asked = (status: Status): string => toolState(call(), { status } as Confirmation, false).word;

test("a call that somebody was asked about is where its confirmation is", () => {
  const statuses = ["requested", "approved", "executing", "succeeded", "failed", "unknown"] as const;
  expect(statuses.map(asked)).toEqual([
    "Requested",
    "Approved",
    "Executing",
    "Succeeded",
    "Failed",
    "Unknown",
  ]);
  expect((["denied", "expired", "cancelled"] as const).map(asked)).toEqual([
    "Denied",
    "Expired",
    "Cancelled",
  ]);
});

test("any other call is where its answer is", () => {
  expect(toolState(call(), undefined, true).word).toBe("Executing");
  expect(toolState(call(), undefined, false).word).toBe("Requested");
  expect(toolState(call({ ok: true }), undefined, false).word).toBe("Succeeded");
  expect(toolState(call({ error: "no" }), undefined, false).word).toBe("Failed");
});
