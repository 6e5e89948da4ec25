export type { McpServer } from "./connection.ts";
export { McpGateway, type McpGatewayOptions } from "./gateway.ts";
export { McpEndpoint } from "./http-endpoint.ts";
export { whyNotPassed } from "./passed-headers.ts";
export type { DiscoveredTool, McpConfirmation } from "./policy.ts";
export { StdioClient } from "./stdio-client.ts";
export { McpToolset, type McpToolsetOptions } from "./toolset.ts";
