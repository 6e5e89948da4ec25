/**
 * The tenants of a server, in a ledger of their own: the registry. Decided here: which states a tenant goes through, and
 * what a record of one may say. Each is an item, changed only by compare-and-set, in the same commit as the journal record
 * that describes it. What a command does to a tenant's own ledger is done between two such commits, and can be done again:
 * a command that was killed is finished by the next one.
 */

export { TenantRegistry } from "./registry.ts";
export { ANY_LIMITS, type TenantLimits, type TenantRecord, type TenantState } from "./tenant.ts";
