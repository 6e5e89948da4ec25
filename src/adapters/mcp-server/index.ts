export type { GivenRule, ToolRule } from "../tool-rule.ts";
export { type GateServerOptions, gateServer, type ServerGate, type ToolArguments } from "./gate-server.ts";
export type { McpCaller } from "./gated-tool.ts";
export type { GateableServer, McpAuthInfo, McpRequest, RegisteredTool } from "./sdk.ts";
