/**
 * The gate in front of an MCP server, for clients that do not know Countersign. Decided here: which calls of a client
 * pass and which wait; which call a repeated request means; how many may wait at once; what a waiting client is told;
 * and what it gets when a call ran, was denied or is `unknown`. Approvals themselves are the engine's (`engine/gate`).
 */

export { McpGateway, type McpGatewayOptions } from "./gateway.ts";
