/**
 * The tables and functions, and how they are created. Decided here: whether a database may be used by this build.
 */
export { assertUsable, isMadeByThisBuild, MAKE_META, migrate, NEWEST, readSchema } from "./migrate.ts";
export { MIGRATIONS } from "./migrations.ts";
export { planMigration } from "./plan.ts";
export { SchemaWatch } from "./schema-watch.ts";
