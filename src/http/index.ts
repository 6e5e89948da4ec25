export { type App, createApp } from "./app.ts";
export type { AppOptions, Authenticate, RouteGroup } from "./app-options.ts";
export type { Logger } from "./log.ts";
