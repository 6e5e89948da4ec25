/**
 * Many tenants behind one server, each with an engine and a ledger of its own. Decided here: which tenant a request is
 * for, which tenants are open, and when what is due in the others is done.
 */

export {
  type TenantLimits,
  type TenantRecord,
  TenantRegistry,
  type TenantState,
} from "../../engine/index.ts";
export { byHost, byPath, byToken } from "./choose.ts";
export type { OpenTenant, TenantFactory } from "./open-tenants.ts";
export { createTenants, type Tenants, type TenantsOptions } from "./tenants.ts";
