export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./handler.ts";
export type { ServerLimits } from "./limits.ts";
export { type CloseOptions, type NodeServer, type ServeOptions, serve } from "./server.ts";
