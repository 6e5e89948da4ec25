/**
 * The tools of an MCP server, as an agent uses them. Decided here: which of them wait for a person (annotations, and
 * the author's rules); which may be repeated after a crash; which names and arguments look too much alike; and how a
 * server's result becomes a tool's.
 */

export { duplicateMember, foldName, sameName } from "./folding.ts";
export { type DiscoveredTool, type McpConfirmation } from "./policy.ts";
export { McpToolset, type McpToolsetOptions } from "./toolset.ts";
