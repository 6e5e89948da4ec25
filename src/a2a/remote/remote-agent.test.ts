import { expect, test } from "vitest";
import { RemoteAgent } from "../index.ts";

test("a rule that would admit nobody is refused where the agent is made", () => {
  const card = new URL("https://agents.example/card.json");
  const approvers = { role: ["ops"] } as object;
  expect(() => new RemoteAgent({ name: "helper", card, approvers })).toThrow(
    expect.objectContaining({ code: "invalid-option", details: { option: "approvers" } }) as Error,
  );
  expect(new RemoteAgent({ name: "helper", card, approvers: { roles: ["ops"] } }).name).toBe("helper");
});
