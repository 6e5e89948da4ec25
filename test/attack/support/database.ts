import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { canonicalJson, type JsonObject } from "../../../src/protocol/index.ts";
import {
  editCall,
  editConfirmation,
  editGrant,
  editSharedGrant,
  listSharedGrant,
  plantGrant,
} from "../../support/ledger/edit-document.ts";

/** Every table with its rows, each row as JSON. */
export type Dump = Readonly<Record<string, readonly string[]>>;

/** A ledger's file, and a way to reach into it behind the engine's back, as an insider could. */
export interface DatabaseFile extends Disposable {
  readonly url: string;
  /** All of it, once nobody has it open. */
  read(): Buffer;
  editCall(id: string, edit: Parameters<typeof editCall>[2]): void;
  editConfirmation(id: string, edit: Parameters<typeof editConfirmation>[2]): void;
  editGrant(id: string, edit: Parameters<typeof editGrant>[2]): void;
  editSharedGrant(id: string, edit: Parameters<typeof editSharedGrant>[2]): void;
  listSharedGrant(id: string): void;
  plantGrant(grant: Parameters<typeof plantGrant>[1], question?: string): void;
  /** All tables but the log. Documents without their moving parts if told so. */
  dump(options?: { readonly withoutVersions?: boolean }): Dump;
}

const MOVING_PARTS = ["version", "head", "updated_at"];
const MOVING_IN_HEAD = ["chain", "updatedAt"];

/** An empty file, or a copy of another. */
export function createDatabaseFile(copied?: Buffer): DatabaseFile {
  const directory = mkdtempSync(join(tmpdir(), "countersign-attack-"));
  const path = join(directory, "ledger.db");
  if (copied !== undefined) writeFileSync(path, copied);
  const inside = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path, { timeout: 5_000 });
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    url: `sqlite:${path}`,
    read: () => readFileSync(path),
    editCall: (id, edit) => inside((database) => editCall(database, id, edit)),
    editConfirmation: (id, edit) => inside((database) => editConfirmation(database, id, edit)),
    editGrant: (id, edit) => inside((database) => editGrant(database, id, edit)),
    editSharedGrant: (id, edit) => inside((database) => editSharedGrant(database, id, edit)),
    listSharedGrant: (id) => inside((database) => listSharedGrant(database, id)),
    plantGrant: (grant, question) => inside((database) => plantGrant(database, grant, question)),
    dump: ({ withoutVersions = false } = {}) =>
      inside((database) => {
        const tables = database.prepare("select name from sqlite_master where type = 'table' order by name");
        const names = tables.all().map(({ name }) => String(name));
        const rowsOf = (table: string): readonly string[] =>
          database
            .prepare(`select * from "${table}"`)
            .all()
            .map((row) => JSON.stringify(withoutVersions ? withoutMovingParts(table, row) : row))
            .toSorted();
        return Object.fromEntries(names.filter((name) => name !== "log").map((name) => [name, rowsOf(name)]));
      }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function withoutMovingParts(table: string, row: Record<string, unknown>): Record<string, unknown> {
  if (table !== "documents") return row;
  const { head, ...rows } = JSON.parse(String(row["body"])) as Record<string, Record<string, unknown>>;
  // Who wrote the document last decides in which order its members are.
  const body = canonicalJson({ ...rows, head: without(head ?? {}, MOVING_IN_HEAD) } as JsonObject);
  return { ...without(row, MOVING_PARTS), body };
}

function without(row: Record<string, unknown>, members: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([member]) => !members.includes(member)));
}
