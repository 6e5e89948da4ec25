/**
 * The server as one function from `Request` to `Response`: the ADK API, the approvals API, the remote gate, AG-UI, the inbox.
 * Decided here: which routes there are, which scope each needs, and which status an error has. Every route is behind
 * `guards`; who somebody is, `auth` decides; what they may do, the engine.
 */

export { type App, createApp } from "./app.ts";
export type { AppOptions, Authenticate, Mount, RouteGroup } from "./app-options.ts";
export type { Auth } from "./auth/auth.ts";
export { type AuthOptions, createAuth, type OidcOptions } from "./auth/create-auth.ts";
export { createLoginLink, type LoginLinkOptions } from "./auth/login-links.ts";
export { type Login, Logins } from "./auth/logins.ts";
export { assertSafeBind } from "./auth/safe-bind.ts";
export { type NewToken, type Token, Tokens } from "./auth/tokens.ts";
export type { RequestLimits } from "./guards/limits.ts";
export { cardLink } from "./links.ts";
export type { Logger } from "./log.ts";
export { isScope, SCOPES, type Scope } from "./scopes.ts";
export { Metrics } from "./telemetry/metrics.ts";
export { openTelemetry } from "./telemetry/tracing.ts";
export {
  byHost,
  byPath,
  byToken,
  createTenants,
  type OpenTenant,
  type TenantFactory,
  type TenantLimits,
  type TenantRecord,
  TenantRegistry,
  type TenantState,
  type Tenants,
  type TenantsOptions,
} from "./tenants/index.ts";
