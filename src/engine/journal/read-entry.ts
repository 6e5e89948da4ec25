import type {
  AboutCall,
  AboutQuestion,
  DecisionRefused,
  GrantMinted,
  JournalBodies,
  JournalEntry,
  JournalKind,
} from "./bodies.ts";

/** What to do with a record of each kind; a kind without an answer does not compile. */
export type EntryTable<T> = { readonly [kind in JournalKind]: (body: JournalBodies[kind]) => T };

/** Reads a record by the table's line for its kind. */
export function readEntry<T>({ kind, body }: JournalEntry, table: EntryTable<T>): T {
  const line = table[kind] as (body: unknown) => T;
  return line(body);
}

/** What a record is about, where that is one call or one question. */
export interface EntrySubject {
  readonly confirmation?: string;
  readonly call?: string;
  readonly tool?: string;
}

const nothing = (): EntrySubject => ({});
const ofCall = ({ call, tool }: AboutCall): EntrySubject => ({ call, tool });
const ofQuestion = ({ confirmation, call, tool }: AboutQuestion): EntrySubject => ({
  confirmation,
  call,
  tool,
});
const ofRefusal = ({ confirmation, call, tool }: DecisionRefused): EntrySubject =>
  confirmation === undefined ? { call, tool } : { confirmation, call, tool };

const ofMint = ({ confirmation, call, tool }: GrantMinted): EntrySubject => ({ confirmation, call, tool });

const SUBJECTS: EntryTable<EntrySubject> = {
  "confirmation-requested": ofQuestion,
  "confirmation-approved": ofQuestion,
  "confirmation-denied": ofQuestion,
  "vote-cast": ofQuestion,
  "vote-withdrawn": ofQuestion,
  "confirmation-seen": ofQuestion,
  "confirmation-reminded": ofQuestion,
  "confirmation-escalated": ofQuestion,
  "confirmation-expired": ofQuestion,
  "confirmation-cancelled": ofQuestion,
  "confirmation-restored": ofQuestion,
  "decision-refused": ofRefusal,
  "calls-started": nothing,
  "calls-answered": nothing,
  "call-allowed": ofCall,
  "call-started": ofCall,
  "call-succeeded": ofCall,
  "call-failed": ofCall,
  "call-denied": ofCall,
  "call-expired": ofCall,
  "call-cancelled": ofCall,
  "call-unknown": ofCall,
  "call-released": ofCall,
  "call-delegated": ofCall,
  "call-returned": ofCall,
  "call-result": ofCall,
  "call-settled": ofCall,
  "late-result": ofCall,
  "grant-minted": ofMint,
  "grant-used": ofCall,
  "grant-refunded": ofCall,
  "grant-refused": ofCall,
  "grant-revoked": ({ tool }) => ({ tool }),
  "step-started": ofCall,
  "step-done": ofCall,
  "step-failed": ofCall,
  "delegation-made": nothing,
  "delegation-revoked": nothing,
  "hold-placed": nothing,
  "hold-released": nothing,
  "tenant-changed": nothing,
  "run-cancelled": nothing,
  "session-imported": nothing,
  "session-deleted": nothing,
  "session-pruned": nothing,
  "retention-run": nothing,
  "journal-archived": nothing,
  "journal-pruned": nothing,
  "person-erased": nothing,
};

/** The question, call and tool that a record is about. */
export function entrySubject(entry: JournalEntry): EntrySubject {
  return readEntry(entry, SUBJECTS);
}
