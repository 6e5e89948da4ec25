/**
 * MCP: tools of MCP servers for agents, and the gate in front of an MCP server. What is decided is in the folders: `rpc`,
 * `servers`, `tools`, `gateway` and `clients`.
 */

export { McpEndpoint, StdioClient } from "./clients/index.ts";
export { McpGateway, type McpGatewayOptions } from "./gateway/index.ts";
export { type McpServer, whyNotPassed } from "./servers/index.ts";
export {
  type DiscoveredTool,
  type McpConfirmation,
  McpToolset,
  type McpToolsetOptions,
} from "./tools/index.ts";
