import { expect, test } from "vitest";
import type { JsonObject } from "../../../api/types.ts";
import { eventOf } from "./timeline-events.ts";

const by = { id: "boss", kind: "oidc", authenticated: true };

test.each<[string, JsonObject, string]>([
  ["confirmation-requested", {}, "Asked"],
  [
    "confirmation-approved",
    { by, via: "api", amended: { fields: ["amount"], args: {} }, started: { attempt: 1, owner: "o" } },
    "Approved by boss (api), with changed amount; it started at once",
  ],
  ["confirmation-denied", { by, via: "cli", reason: "no" }, "Denied by boss (cli): no"],
  [
    "confirmation-approved",
    { by, via: "api", delegated: { from: "ana", delegation: "dlg-1" } },
    "Approved by boss for ana (api)",
  ],
  [
    "vote-cast",
    { by, via: "api", confirmed: false, delegated: { from: "ana", delegation: "dlg-1" }, reason: "no" },
    "Denied by boss for ana (api), as one of several: no",
  ],
  [
    "call-settled",
    { by: { ...by, authenticated: false }, via: "cli", as: "retry" },
    "Settled by boss (cli, unauthenticated) as retry",
  ],
  [
    "confirmation-seen",
    { by: { id: "ana", kind: "token", authenticated: true }, via: "api", person: "ana" },
    "Seen by ana (api)",
  ],
  ["confirmation-reminded", { due: 1 }, "The approvers were reminded"],
  ["confirmation-escalated", { due: 1, to: { users: ["zoe"], roles: ["cfo"] } }, "Escalated to zoe, cfo"],
  ["confirmation-escalated", { due: 1, to: { users: ["zoe"] }, group: "board" }, "Escalated to board"],
  ["something-new", {}, "something new"],
])("%s is told in a few words", (kind, body, text) => {
  expect(eventOf({ kind, body }).text).toBe(text);
});

test("a record whose content was erased is still told", () => {
  expect(eventOf({ kind: "confirmation-denied", body: null }).text).toBe("Denied");
});
