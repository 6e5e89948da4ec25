export type { McpServer } from "./connection.ts";
export { McpGateway, type McpGatewayOptions } from "./gateway.ts";
export type { DiscoveredTool, McpConfirmation } from "./policy.ts";
export { McpToolset, type McpToolsetOptions } from "./toolset.ts";
