import { setTimeout } from "node:timers/promises";
import { searchableWords } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const PLACE = "select value from meta where name = 'search-place'";
const MOVE = "update meta set value = ? where name = 'search-place'";
const END = "select max(seq) from journal";
const CHANGED = "select seq, stream from journal where seq > ? order by seq limit ?";
const OPEN_OF_SESSION =
  "select c.id, c.tool, c.agent, k.args, k.secrets, k.args_digest, c.deadline from inbox i " +
  "cross join confirmations c on c.id = i.confirmation cross join calls k on k.id = c.call " +
  "where i.facet = 'session' and i.value = ?";
const KNOWN_OF_SESSION = "select n, confirmation, args_digest, words from searchable where session = ?";
const INSERT =
  "insert into searchable (confirmation, session, deadline, args_digest, words) values (?, ?, ?, ?, ?) returning n";
const INSERT_WORD = "insert into search_words (word, n) values (?, ?)";
const DELETE = "delete from searchable where n = ?";
const DELETE_WORD = "delete from search_words where word = ? and n = ?";

// Journal records that one transaction looks at: it is over in a few milliseconds.
const BATCH = 100;
// Longer than a writer elsewhere waits between two tries for the lock, so that this never keeps it from one.
const GAP_MS = 3;

/**
 * Brings the index to where the journal ended when this was called, or so many records further. The journal says in
 * which sessions something changed; what is open there is read from the confirmations themselves. Any number may do
 * this at once.
 */
export async function catchUp(database: Database, most: number = Number.POSITIVE_INFINITY): Promise<void> {
  const start = await database.read(() => readPlace(database));
  const end = Math.min(start.end, start.place + most);
  let { place } = start;
  while (place < end) {
    place = await database.write(false, () => indexBatch(database));
    if (place < end) await setTimeout(GAP_MS);
  }
}

/** Forgets a session's words, before what they were taken from is erased. */
export function dropSessionWords(database: Database, session: string): void {
  for (const [n, , , words] of database.all(KNOWN_OF_SESSION, [session])) {
    drop(database, n as number, words as string);
  }
}

function readPlace(database: Database): { readonly place: number; readonly end: number } {
  return {
    place: database.get(PLACE)?.[0] as number,
    end: (database.get(END)?.[0] ?? 0) as number,
  };
}

/** Where the place is afterwards. */
function indexBatch(database: Database): number {
  const { place, end } = readPlace(database);
  const changed = database.all(CHANGED, [place, BATCH]);
  const last = changed.at(-1)?.[0];
  if (last === undefined) return end;
  for (const session of new Set(changed.map(([, stream]) => stream as string)))
    indexSession(database, session);
  database.run(MOVE, [last]);
  return last as number;
}

function indexSession(database: Database, session: string): void {
  const known = new Set<unknown>();
  const open = database.all(OPEN_OF_SESSION, [session]);
  const digests = new Map(open.map((row) => [row[0] as string, row[5] as string]));
  for (const [n, confirmation, digest, words] of database.all(KNOWN_OF_SESSION, [session])) {
    if (digests.get(confirmation as string) === digest) known.add(confirmation);
    else drop(database, n as number, words as string);
  }
  for (const [id, tool, agent, args, secrets, digest, deadline] of open) {
    if (known.has(id)) continue;
    const words = searchableWords(
      { tool: tool as string, agent: agent as string },
      { args: fromJson(args) as JsonObject, secrets: fromJson(secrets) as readonly string[] },
    );
    const text = words.map((word) => ` ${word}`).join("");
    const row = [id ?? null, session, deadline ?? null, digest ?? null, text];
    const n = database.get(INSERT, row)?.[0] as number;
    for (const word of words) database.run(INSERT_WORD, [word, n]);
  }
}

function drop(database: Database, n: number, words: string): void {
  for (const word of words.split(" ").slice(1)) database.run(DELETE_WORD, [word, n]);
  database.run(DELETE, [n]);
}
