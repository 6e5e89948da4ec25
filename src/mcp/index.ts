export { McpEndpoint, StdioClient } from "./clients/index.ts";
export { McpGateway, type McpGatewayOptions } from "./gateway/index.ts";
export { type McpServer, whyNotPassed } from "./servers/index.ts";
export {
  type DiscoveredTool,
  type McpConfirmation,
  McpToolset,
  type McpToolsetOptions,
} from "./tools/index.ts";
