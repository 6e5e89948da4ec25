import type { Migration } from "../migrate.ts";
import { tables } from "./0001-tables.ts";
import { functions } from "./0002-functions.ts";

/** All of them, oldest first. Only ever appended to: one that was released is never changed. */
export const MIGRATIONS: readonly Migration[] = [tables, functions];
