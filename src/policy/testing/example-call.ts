import type { PolicyCall } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type CallFacts, factsOf } from "../call-facts.ts";
import { UTC } from "../local-time.ts";

/** A payment, on a Monday at 13:05 UTC. */
export function exampleCall(given: Partial<PolicyCall> = {}): PolicyCall {
  const args = given.args ?? { amount: 5 };
  return {
    entryPoint: "runner",
    app: "bank",
    agent: "clerk",
    tool: "pay",
    args,
    shown: args,
    user: "ana",
    requesters: ["ana"],
    roles: ["finance"],
    authenticated: true,
    session: "s1",
    state: { limit: 50 },
    at: Date.UTC(2026, 10, 16, 13, 5),
    ...given,
  };
}

/** What conditions see of it. */
export function exampleFacts(given: { readonly args?: JsonObject } = {}): CallFacts {
  return factsOf(exampleCall(given), UTC);
}
