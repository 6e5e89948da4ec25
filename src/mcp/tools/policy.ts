import type { Tool as ServerTool } from "@modelcontextprotocol/client";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { isDestructive } from "./annotations.ts";
import { sameName } from "./folding.ts";

/** What a predicate gets about a server's tool. */
export type DiscoveredTool = Pick<ServerTool, "name" | "description" | "annotations">;

/**
 * Which of a server's tools need approval. `"destructive"` uses the server's annotations and treats a tool without
 * annotations as destructive: only for servers that you trust. If a function throws, the tool needs approval.
 */
export type McpConfirmation =
  | "none"
  | "all"
  | "destructive"
  | { readonly named: readonly string[] }
  | ((tool: DiscoveredTool, args: JsonObject) => boolean | Promise<boolean>);

/** The gate of one tool under a policy. */
export function gateOf(
  policy: McpConfirmation,
  tool: ServerTool,
): boolean | ((args: JsonObject) => boolean | Promise<boolean>) {
  if (typeof policy === "function") {
    const { name, description, annotations } = tool;
    const told = {
      name,
      ...(description === undefined ? {} : { description }),
      ...(annotations === undefined ? {} : { annotations }),
    };
    return (args) => policy(told, args);
  }
  if (typeof policy === "object") return sameName(policy.named, tool.name);
  if (policy === "destructive") return isDestructive(tool.annotations);
  return policy === "all";
}

/** Refuses an invalid policy: a misspelt one could leave a tool without a gate. */
export function checkPolicy(policy: McpConfirmation): McpConfirmation {
  const known =
    typeof policy === "function" ||
    policy === "none" ||
    policy === "all" ||
    policy === "destructive" ||
    (typeof policy === "object" && policy !== null && Array.isArray(policy.named));
  if (known) return policy;
  throw new CountersignError(
    "invalid-option",
    `Invalid confirmation ${JSON.stringify(policy)}. Use "none", "all", "destructive", { named: [...] } or a function.`,
    { details: { option: "confirmation" } },
  );
}
