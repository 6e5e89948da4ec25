/**
 * The bridge from Node's HTTP server to `Request` and `Response`. Decided here: how bodies are limited and streams are cancelled;
 * in which order requests of one connection are answered; and how a server is stopped.
 */

export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./handler.ts";
export type { ServerLimits } from "./limits.ts";
export { type CloseOptions, type NodeServer, type ServeOptions, serve } from "./server.ts";
