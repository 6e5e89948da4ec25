import type { JournalRecord, Ledger } from "../../src/engine/index.ts";

/** What the journal alone says has become of every call and every question. */
export interface Told {
  readonly calls: Map<string, { status: string; attempt: number }>;
  readonly confirmations: Map<string, string>;
}

type Body = Record<string, unknown> & { call: string; confirmation: string; attempt: number };

type Tell = (told: Told, body: Body) => void;

const callIs =
  (status: string): Tell =>
  ({ calls }, { call }) =>
    void calls.set(call, { attempt: calls.get(call)?.attempt ?? 0, status });

const closedAs =
  (status: string): Tell =>
  (told, body) => {
    told.confirmations.set(body.confirmation, status);
    callIs(status)(told, body);
  };

const TELLS: { readonly [kind: string]: Tell } = {
  "confirmation-requested": (told, body) => {
    told.confirmations.set(body.confirmation, "requested");
    callIs(told.calls.has(body.call) ? "suspended" : "waiting")(told, body);
  },
  "confirmation-approved": ({ calls, confirmations }, { call, confirmation, started }) => {
    confirmations.set(confirmation, "approved");
    const { attempt } = (started ?? { attempt: calls.get(call)?.attempt ?? 0 }) as { attempt: number };
    calls.set(call, { attempt, status: started === undefined ? "ready" : "executing" });
  },
  "confirmation-denied": closedAs("denied"),
  "confirmation-expired": closedAs("expired"),
  "confirmation-cancelled": closedAs("cancelled"),
  "call-started": ({ calls }, { call, attempt }) => void calls.set(call, { attempt, status: "executing" }),
  "call-succeeded": callIs("succeeded"),
  "call-failed": callIs("failed"),
  "call-cancelled": callIs("cancelled"),
  "call-unknown": callIs("unknown"),
  "call-released": callIs("ready"),
  "call-settled": (told, body) =>
    callIs(body["as"] === "retry" ? "ready" : String(body["status"]))(told, body),
  "late-result": () => {},
};

/** Replays the journal from its first record. Erased records tell nothing; their streams are left out. */
export async function replayJournal(
  ledger: Ledger,
): Promise<Told & { readonly erased: ReadonlySet<string> }> {
  const told: Told = { calls: new Map(), confirmations: new Map() };
  const erased = new Set<string>();
  const page = 50;
  for (let after = 0; ; ) {
    const records: readonly JournalRecord[] = await ledger.journal.records({ after, limit: page });
    for (const record of records) tell(told, erased, record);
    const last = records.at(-1);
    if (last === undefined || records.length < page) return { ...told, erased };
    after = last.seq;
  }
}

function tell(told: Told, erased: Set<string>, { kind, body, stream }: JournalRecord): void {
  if (body === null || kind === "session-deleted") {
    erased.add(stream);
    return;
  }
  const one = TELLS[kind];
  if (one === undefined) throw new Error(`The journal has a ${kind}, which this replay does not know.`);
  one(told, body as Body);
}
