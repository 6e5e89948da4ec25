import { describe, expect, test } from "vitest";
import type { JsonValue } from "../protocol/index.ts";
import { PERSONAL_ITEMS } from "./index.ts";

/** What is left of an item; null where all of it goes. */
function leftOf(kind: string, value: JsonValue, { user = "ana", id = "i1" } = {}): JsonValue {
  const found = PERSONAL_ITEMS.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`No kind ${kind}.`);
  return found.without({ kind, id, value, version: 1 }, { user, pseudonym: "person-1" }) ?? null;
}

const TOKEN = { user: "ben", roles: ["ana"], createdBy: "local:ops", hash: "h" };

describe("what goes with a person", () => {
  test.each<[kind: string, value: JsonValue]>([
    ["login", { principal: { id: "ana", kind: "oidc" } }],
    ["login-link", { user: "ana" }],
    ["token", { ...TOKEN, user: "ana" }],
    ["push-subscription", { endpoint: "https://push.test", person: { id: "ana" } }],
    ["mail-link", { confirmation: "q1", person: "ana" }],
    ["delegation", { from: "ana", to: "ben" }],
    ["delegation", { from: "ben", to: "ana" }],
    ["shared-grant", { requesters: ["bot", "ana"], approvals: [] }],
    ["shared-grant", { requesters: ["bot"], approvals: [{ by: { id: "ana" }, person: "p1" }] }],
    ["shared-grant", { requesters: ["bot"], approvals: [{ by: { id: "a.s" }, person: "ana" }] }],
    ["shared-grant", { requesters: ["bot"], approvals: [], revoked: { at: 1, by: { id: "ana" } } }],
  ])("a %s that is theirs: %j", (kind, value) => {
    expect(leftOf(kind, value)).toBeNull();
  });

  test("the settings that are kept under their name", () => {
    expect(leftOf("notification-settings", { off: [] }, { id: "ana" })).toBeNull();
    expect(leftOf("notification-settings", { off: ["ana"] }, { id: "ben" })).toEqual({ off: ["ana"] });
  });

  test.each<[user: string, kind: string, value: JsonValue]>([
    ["user", "token", TOKEN],
    ["ana", "token", TOKEN],
    ["oidc", "login", { principal: { id: "ben", kind: "oidc", roles: ["ana"] } }],
    ["ana", "push-subscription", { person: { id: "ben", roles: ["ana"] } }],
    ["ana", "mail-link", { confirmation: "ana", person: "ben" }],
    ["ana", "shared-grant", { requesters: ["ben"], approvals: [{ by: { id: "eve" } }], agent: "ana" }],
    ["ana", "delegation", { from: "ben", to: "eve", scope: { app: ["ana"] } }],
    ["ana", "ledger-notice", { message: "ana", acknowledged: { by: "ben", at: "2026" } }],
    ["ana", "ledger-notice", { message: "ana" }],
    ["sent", "channel-messages", { subject: "q1", shown: 1, to: { room: { state: "sent" } }, failed: {} }],
  ])("of %s: not a %s of somebody else", (user, kind, value) => {
    expect(leftOf(kind, value, { user })).toBe(value);
  });

  test("not the tokens that they issued, which name them by the pseudonym", () => {
    const issued = { ...TOKEN, revokedBy: "local:ops" };
    expect(leftOf("token", issued, { user: "local:ops" })).toEqual({
      ...TOKEN,
      createdBy: "person-1",
      revokedBy: "person-1",
    });
  });

  test("not the notices that they acknowledged, which name them by the pseudonym", () => {
    const notice = { message: "lost", acknowledged: { by: "ana", at: "2026" } };
    expect(leftOf("ledger-notice", notice)).toEqual({
      message: "lost",
      acknowledged: { by: "person-1", at: "2026" },
    });
  });

  test("of messages about a question only those to them", () => {
    const others = { room: { state: "sent" }, "ben@x": { state: "sent", person: "ben" } };
    const sent = { ...others, "ana@x": { state: "sent", person: "ana" } };
    const value = { subject: "q1", shown: 2, to: sent, failed: { U1: { at: 1, person: "ana" } } };
    expect(leftOf("channel-messages", value)).toEqual({ subject: "q1", shown: 2, to: others, failed: {} });
  });
});
