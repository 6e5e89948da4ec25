/**
 * What a database has to do for the ledger, and the ledger on top of it.
 * A session is one document; a commit is one guarded change of it, one row of the log, and a few index entries.
 * Decided here: what a commit makes of a document (pure, the same for every store); which rows leave it when they have ended;
 * which values are too long for it; what can be found without reading documents;
 * and what is tried from memory before anything is read.
 */

export { type Archive, eraseArchive } from "./archive.ts";
export { documentText, readDocumentText, type SessionDocument } from "./document.ts";
export { DocumentLedger } from "./document-ledger.ts";
export { takeItems } from "./outbox.ts";
export type {
  DocumentQuery,
  Entry,
  EntryQuery,
  ItemKey,
  LoadedDocument,
  LogQuery,
  LogRange,
  LostQuery,
  SessionRenaming,
  Store,
  StoreChange,
  StoreCommit,
} from "./store.ts";
