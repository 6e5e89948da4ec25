/**
 * The gate inside an MCP server that somebody writes with the SDK. Decided here: which registered tools are gated; which call a
 * repeated request means; and what a client that waits gets. For a server that cannot be changed, see `mcp/gateway`.
 */

export type { GivenRule, ToolRule } from "../tool-rule.ts";
export { type GateServerOptions, gateServer, type ServerGate, type ToolArguments } from "./gate-server.ts";
export type { McpCaller } from "./gated-tool.ts";
export type { GateableServer, McpAuthInfo, McpRequest, RegisteredTool } from "./sdk.ts";
