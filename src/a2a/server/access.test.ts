import { expect, test } from "vitest";
import { ANYBODY, type Principal } from "../../engine/index.ts";
import { closedTo } from "./access.ts";

const ANA: Principal = { id: "ana", kind: "token", roles: [], scopes: ["decide"], authenticated: true };

test.each<[string, Principal, boolean, boolean]>([
  ["whoever is at a machine where nobody logs in", { ...ANYBODY, scopes: ["run", "decide"] }, false, true],
  ["whoever comes in by a path that needs no login", ANYBODY, true, false],
  ["somebody, where the server takes decisions", ANA, true, true],
  ["somebody, where it does not", ANA, false, false],
  ["somebody without the scope", { ...ANA, scopes: ["run"] }, true, false],
  ["an agent", { ...ANA, kind: "agent" }, true, false],
])("%s may decide: %j %s %s", (_, principal, decisions, may) => {
  expect(closedTo(principal, decisions) === undefined).toBe(may);
});
