import type { Migration } from "../migrate.ts";
import { ledgerTables } from "./0001-ledger.ts";
import { shelfTable } from "./0002-shelf.ts";
import { searchTables } from "./0003-search.ts";
import { outboxTables } from "./0004-outbox.ts";

/** All of them, oldest first. Only ever appended to: one that was released is never changed. */
export const MIGRATIONS: readonly Migration[] = [ledgerTables, shelfTable, searchTables, outboxTables];
