/**
 * Connections to MCP servers: the ones an agent's tools come from, and the one behind a gateway. Decided here: how a
 * server is reached (stdio, HTTP, SSE), and how much it may answer; when a lost connection makes the outcome of a call
 * unknown; which request headers are sent to the server; and when a lost session is opened again.
 */

export { describeServer, McpConnection, type McpServer } from "./connection.ts";
export { isLostSession, leavesOpen } from "./outcome.ts";
export { OwnUpstream } from "./own-upstream.ts";
export { checkAllowedHeaders, passedHeaders, whyNotPassed } from "./passed-headers.ts";
export { Upstream, UpstreamError } from "./upstream.ts";
