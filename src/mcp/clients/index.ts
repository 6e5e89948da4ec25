/**
 * How clients reach the gateway: stdio and streamable HTTP. Decided here: which session a request belongs to, and when
 * that ends; on which stream a client is answered; and what the gateway learns about a broken connection. What a message
 * means is decided in `gateway/`.
 */

export { McpEndpoint } from "./http-endpoint.ts";
export { StdioClient } from "./stdio-client.ts";
