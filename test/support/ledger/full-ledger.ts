import pg from "pg";
import type { JsonValue } from "../../../src/protocol/index.ts";
import { openPostgresLedger } from "../../../src/stores/postgres/index.ts";
import {
  DAY_MS,
  deliveryRows,
  type Filling,
  FULL,
  type FullRows,
  fullRows,
  fullTerms,
  wordsIndexed,
} from "./full-session.ts";

export type { Filling } from "./full-session.ts";

/** Fills an empty ledger with complete sessions: each that waits can be decided. Takes about 200 µs for each. */
export async function fillLedger(url: string, filling: Filling): Promise<void> {
  const ledger = await openPostgresLedger({ url });
  const terms = fullTerms(ledger.digestKey, filling);
  await ledger.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Nothing here has to survive a crash.
    await client.query("set synchronous_commit = off");
    const { pending, answered = 0, deliveries = 0 } = filling;
    await insertInLanes(url, pending + answered, (n) => fullRows(n, terms));
    for (const channel of FULL.channels) {
      for (let first = 1; first <= deliveries * 2; first += BATCH) {
        const last = Math.min(first + BATCH, deliveries * 2 + 1);
        await insert(
          client,
          range(first, last, (n) => deliveryRows(channel, n, terms)),
        );
      }
      await insert(client, [{ entries: [], items: [{ kind: "channel", id: channel, value: deliveries }] }]);
    }
    await insert(client, [{ entries: [], items: [wordsIndexed(pending + answered)] }]);
    await client.query(
      `insert into countersign.owners values ($1, 'somewhere', 1, $2, $3, 0, countersign.history())`,
      [FULL.livingOwner, terms.now + DAY_MS, terms.now],
    );
    await client.query("select setval('countersign.log_seq', $1)", [pending + answered]);
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

const BATCH = 500;
/** While the server stores some rows, the next are made. */
const LANES = 3;

async function insertInLanes(url: string, count: number, make: (n: number) => FullRows): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query("set synchronous_commit = off");
      while (next < count) {
        const first = next;
        next = Math.min(next + BATCH, count);
        await insert(client, range(first, next, make));
      }
    } finally {
      await client.end();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const TABLES = {
  documents: ["text", "text", "text", "text", "bigint", "text", "bigint", "boolean", "text"],
  log: ["bigint", "text", "bigint", "bigint", "text", "text", "text", "bigint", "bigint", "text", "text"],
  entries: ["text", "text", "bigint", "text", "text"],
} as const;
const INSERT_ITEMS =
  "insert into countersign.items select kind, id, array(select json_array_elements_text(value::json)), 1, null, 0 " +
  "from unnest($1::text[], $2::text[], $3::text[]) g (kind, id, value)";

async function insert(client: pg.Client, rows: readonly FullRows[]): Promise<void> {
  const documents = rows.flatMap(({ document }) => {
    if (document === undefined) return [];
    const { key, app, user, id, head, updatedAt, body } = document;
    return [[key, app, user, id, 1, head, updatedAt, false, body]];
  });
  const log = rows.flatMap((each) => {
    if (each.log === undefined) return [];
    const { seq, session, n, at, kinds, digest, hash, events, body } = each.log;
    return [[seq, session, n, at, JSON.stringify(kinds), digest, hash, events, 0, body, null]];
  });
  const entries = rows.flatMap((each) =>
    each.entries.map(({ facet, value, sort, id, note }) => [facet, value, sort, id, note]),
  );
  for (const [table, found] of Object.entries({ documents, log, entries })) {
    const types = TABLES[table as keyof typeof TABLES];
    const arrays = types.map((_, at) => found.map((row) => row[at] ?? null));
    const given = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
    await client.query(`insert into countersign.${table} select * from unnest(${given})`, arrays);
  }
  const items = rows.flatMap((each) => each.items);
  await client.query(INSERT_ITEMS, [
    items.map(({ kind }) => kind),
    items.map(({ id }) => id),
    items.map(({ value }) => JSON.stringify(partsOfValue(value))),
  ]);
}

/** As the store has an item's value: the names and values of an object in turn, or the whole of anything else. */
function partsOfValue(value: JsonValue): readonly string[] {
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap((member) => member.map((part: unknown) => JSON.stringify(part)))
    : [JSON.stringify(value)];
}

function range<T>(first: number, last: number, make: (n: number) => T): readonly T[] {
  return Array.from({ length: last - first }, (_, i) => make(first + i));
}
