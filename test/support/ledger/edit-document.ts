import type { DatabaseSync } from "node:sqlite";
import {
  type CallRecord,
  type ConfirmationRecord,
  documentText,
  type GrantRecord,
  readDocumentText,
  type SessionDocument,
  type SessionName,
} from "../../../src/engine/index.ts";
import { entriesOfCall, entriesOfConfirmation } from "../../../src/engine/store/entries.ts";
import type { Entry } from "../../../src/engine/store/store.ts";

/** A member set to null is taken away. */
type Edit<Row extends { readonly id: string }> = { readonly [member in keyof Row]?: unknown };

/**
 * Changes a call behind the engine's back, as an insider could who knows the layout: in its session's document, with the
 * index entries that go with it. Throws where there is no such call: an attack that hits nothing proves nothing.
 */
export function editCall(database: DatabaseSync, id: string, edit: Edit<CallRecord>): void {
  editDocument(database, id, (document) => ({
    ...document,
    calls: document.calls.map((call) => (call.id === id ? edited(call, edit) : call)),
  }));
}

/** As `editCall`; `"gone"` takes the question away. */
export function editConfirmation(
  database: DatabaseSync,
  id: string,
  edit: Edit<ConfirmationRecord> | "gone",
): void {
  editDocument(database, id, (document) => ({
    ...document,
    confirmations: document.confirmations.flatMap((each) => {
      if (each.id !== id) return [each];
      return edit === "gone" ? [] : [edited(each, edit)];
    }),
  }));
}

/** As `editCall`, for a grant of the session. */
export function editGrant(database: DatabaseSync, id: string, edit: Edit<GrantRecord>): void {
  editDocument(database, id, (document) => ({
    ...document,
    grants: (document.grants ?? []).map((grant) => (grant.id === id ? edited(grant, edit) : grant)),
  }));
}

/** As `editCall`, for the answers that a function of this call finds to its own questions, by their names. */
export function editAnswers(
  database: DatabaseSync,
  call: string,
  answers: { readonly [question: string]: string },
): void {
  editDocument(database, call, (document) => ({
    ...document,
    steps: document.steps.map((step) => {
      const value = answers[step.name];
      return step.call === call && value !== undefined ? { ...step, value } : step;
    }),
  }));
}

interface SharedPlace {
  readonly id: string;
  readonly version: number;
  readonly expiresAt: number;
}

/** As `editCall`, for a grant across sessions and where its item is: as its value says, or as `item` does. */
export function editSharedGrant(
  database: DatabaseSync,
  id: string,
  edit: Edit<GrantRecord> & { readonly item?: Partial<SharedPlace> },
): void {
  const { item = {}, ...change } = edit;
  const row = database.prepare("select * from items where kind = 'shared-grant' and id = ?").get(id);
  if (row === undefined) throw new Error(`There is no grant ${id} across sessions.`);
  const grant = edited(JSON.parse(String(row["value"])) as GrantRecord, change);
  const { id: place = id, expiresAt = grant.endsAt, version = Number(row["version"]) } = item;
  database
    .prepare(
      "insert into items (kind, id, version, expires_at, value) values ('shared-grant', ?, ?, ?, ?) " +
        "on conflict (kind, id) do update set expires_at = excluded.expires_at, value = excluded.value",
    )
    .run(place, version, expiresAt, JSON.stringify(grant));
}

/** Adds a grant to all lists of grants across sessions. */
export function listSharedGrant(database: DatabaseSync, id: string): void {
  const changed = database
    .prepare("update items set value = json_insert(value, '$[#]', ?) where kind = 'shared-grants'")
    .run(id);
  if (Number(changed.changes) === 0) throw new Error("There is no list of grants across sessions.");
}

/** Puts a grant into the document that has this question: by default, that of the session in which it was given. */
export function plantGrant(
  database: DatabaseSync,
  grant: GrantRecord,
  question: string = grant.confirmation,
): void {
  editDocument(database, question, (document) => ({
    ...document,
    grants: [...(document.grants ?? []), grant],
  }));
}

function edited<Row extends { readonly id: string }>(row: Row, edit: Edit<Row>): Row {
  const members = Object.entries({ ...row, ...edit }).filter(([, value]) => value !== null);
  return Object.fromEntries(members) as Row;
}

function editDocument(
  database: DatabaseSync,
  id: string,
  edit: (document: SessionDocument) => SessionDocument,
): void {
  const rows = database.prepare("select key, app, user, id, body from documents").all();
  const found = rows
    .map(({ key, body, ...name }) => ({
      key: String(key),
      document: readDocumentText(String(key), name as unknown as SessionName, String(body)),
    }))
    .find(({ document: { calls, confirmations, grants = [] } }) =>
      [...calls, ...confirmations, ...grants].some((row) => row.id === id),
    );
  if (found === undefined) throw new Error(`No document has the row ${id}.`);
  const after = edit(found.document);
  database
    .prepare("update documents set body = ? where key = ?")
    .run(documentText(found.key, after), found.key);
  const [old, now] = [entriesOf(found.document), entriesOf(after)];
  const remove = database.prepare(
    "delete from entries where facet = ? and value = ? and sort = ? and id = ?",
  );
  const add = database.prepare(
    "insert or replace into entries (facet, value, sort, id, note) values (?, ?, ?, ?, ?)",
  );
  for (const { facet, value, sort, id: entry } of old) remove.run(facet, value, sort, entry);
  for (const { facet, value, sort, id: entry, note } of now) add.run(facet, value, sort, entry, note ?? null);
}

function entriesOf({ calls, confirmations }: SessionDocument): readonly Entry[] {
  return [...calls.flatMap(entriesOfCall), ...confirmations.flatMap(entriesOfConfirmation)];
}
