import { expect, test } from "vitest";
import { Agent } from "../agents/agent.ts";
import { readAgentTree } from "../agents/agent-tree.ts";
import { NO_HEADERS, RequestHeaders } from "./request-headers.ts";

const A_DAY_MS = 24 * 60 * 60 * 1000;

function headersOf(names: readonly string[] | undefined, now = () => 0): RequestHeaders {
  const set = {
    name: "set",
    tools: async () => [],
    ...(names === undefined ? {} : { requestHeaders: names }),
  };
  const inner = new Agent({ name: "inner", model: "m", tools: [set] });
  return new RequestHeaders(readAgentTree(new Agent({ name: "a", model: "m", subAgents: [inner] })), now);
}

test("only what a toolset names is kept, whatever the case of its letters", () => {
  const headers = headersOf(["X-Tenant"]);
  headers.remember("i-1", new Headers({ "x-tenant": "acme", authorization: "secret" }));
  expect([...(headers.of("i-1") ?? [])]).toEqual([["x-tenant", "acme"]]);
});

test("a run without any is told from one that nobody here knows", () => {
  const headers = headersOf(["x-tenant"]);
  headers.remember("i-1", NO_HEADERS);
  expect([headers.of("i-1")?.size, headers.of("i-2")]).toEqual([0, undefined]);
});

test("where no toolset names any, none are kept", () => {
  const headers = headersOf(undefined);
  headers.remember("i-1", new Headers({ authorization: "secret" }));
  expect(headers.of("i-1")).toBeUndefined();
});

test("after a day, and when there are too many, the oldest are forgotten", () => {
  let now = 0;
  const headers = headersOf(["x-tenant"], () => now);
  const remember = (invocation: string): void =>
    headers.remember(invocation, new Headers({ "x-tenant": invocation }));
  remember("first");
  for (let run = 1; run < 10_000; run++) remember(`i-${run}`);
  expect(headers.of("first")?.get("x-tenant")).toBe("first");
  remember("last");
  expect([headers.of("first"), headers.of("last")?.get("x-tenant")]).toEqual([undefined, "last"]);
  now = A_DAY_MS + 1;
  expect(headers.of("last")).toBeUndefined();
});
