import { randomBytes } from "node:crypto";
import { CLOCK, ENTRIES, HISTORY, ITEMS, LOG_ORDER, REFUSE } from "./functions.ts";
import type { Migration } from "./migrate.ts";
import { TABLES } from "./tables.ts";

const DIGEST_KEY_BYTES = 32;

const first: Migration = {
  version: 1,
  texts: [TABLES, CLOCK, HISTORY, LOG_ORDER, ENTRIES, ITEMS, REFUSE],
  async fill(client) {
    const key = randomBytes(DIGEST_KEY_BYTES).toString("hex");
    await client.query({
      text: `insert into countersign.meta (name, value) values ('digest-key', '${key}')`,
    });
  },
};

/** All of them, oldest first. Only ever appended to: one that was released is never changed. */
export const MIGRATIONS: readonly Migration[] = [first];
