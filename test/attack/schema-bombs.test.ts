import { expect, test } from "vitest";
import type { JsonObject } from "../../src/protocol/index.ts";
import { startAttackedServer } from "./attacked-server.ts";

const inEachOther = (depth: number): JsonObject =>
  depth === 0 ? {} : { $id: `https://schemas.test/${depth}`, not: inEachOther(depth - 1) };

test.each<[string, JsonObject]>([
  ["takes years", inEachOther(60)],
  [
    "takes all memory",
    { properties: { ["a".repeat(100_000)]: { allOf: Array.from({ length: 100_000 }, () => ({})) } } },
  ],
])("a program whose schema %s to read is refused, and nobody waits", async (_, schema) => {
  const server = await startAttackedServer();
  const headers = { authorization: `Bearer ${await server.scoped(["propose"])}` };
  const body = { key: "bomb", app: "shop", tool: "pay", args: { amount: 1 }, schema };
  const answer = await server.send({ method: "POST", path: "/v1/calls", body, headers });
  expect([answer.status, await answer.json()]).toEqual([
    422,
    expect.objectContaining({ code: "arguments-mismatch" }),
  ]);
});
