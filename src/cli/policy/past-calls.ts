import { setImmediate as turn } from "node:timers/promises";
import {
  type Asker,
  type CallRecord,
  type ConfirmationRecord,
  type Ledger,
  type PolicyCall,
  type PolicyNote,
  parseEntry,
  recordsOf,
  redact,
  type Snapshot,
} from "../../engine/index.ts";
import type { PastCall } from "../../policy/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";

const PAGE = 200;
const PAGE_BYTES = 4_000_000;

/** A call that the journal tells of. */
interface ToldCall {
  readonly call: string;
  readonly was: PastCall["was"];
  readonly at: number;
  readonly policy?: readonly PolicyNote[] | undefined;
}

/** Which calls to read. */
export interface PastRange {
  readonly since: number;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/**
 * The calls since a moment, as the journal tells them, newest first, page by page: so what is older is not read. Those
 * whose content is erased are left out.
 */
export async function* pastCalls(ledger: Ledger, { since, signal }: PastRange): AsyncGenerator<PastCall> {
  for (let until = Number.MAX_SAFE_INTEGER; until > 0; ) {
    const rows = await ledger.journal.rows({ after: 0, until, limit: PAGE, bytes: PAGE_BYTES, last: true });
    for (const record of rows.flatMap(recordsOf).toReversed()) {
      if (signal?.aborted === true) return;
      if (record.at < since) continue;
      for (const told of toldIn(parseEntry(record), record.at)) {
        const past = await pastCall(ledger, told);
        if (past !== undefined) yield past;
      }
    }
    // A clock may have been set back, so one old record does not end it.
    if (rows.every(({ at }) => at < since)) return;
    until = (rows[0]?.seq ?? 0) - 1;
    // Other requests get their turn.
    await turn();
  }
}

function toldIn(entry: ReturnType<typeof parseEntry>, at: number): readonly ToldCall[] {
  if (entry.state !== "readable") return [];
  switch (entry.kind) {
    case "confirmation-requested":
      return entry.body.round === 0
        ? [{ call: entry.body.call, was: "asked", at, policy: entry.body.policy }]
        : [];
    case "calls-started":
      return entry.body.calls.map(({ call, policy }) => ({ call, was: "ran", at, policy }));
    case "call-started":
      return entry.body.attempt === 1
        ? [{ call: entry.body.call, was: "ran", at, policy: entry.body.policy }]
        : [];
    case "calls-answered":
      return entry.body.calls
        .filter(({ status, policy }) => status === "denied" && policy !== undefined)
        .map(({ call, policy }) => ({ call, was: "denied", at, policy }));
    default:
      return [];
  }
}

async function pastCall(ledger: Ledger, told: ToldCall): Promise<PastCall | undefined> {
  const found = await ledger.load({ call: told.call });
  if (found?.call === undefined) return undefined;
  const whole = { ...found, call: found.call };
  if (told.was === "asked") return pastQuestion(ledger, whole, told);
  // An approved call starts too; its question was told already.
  if (told.was === "ran" && whole.call.rounds > 0) return undefined;
  const { was, policy = [], at } = told;
  return { id: whole.call.id, was, why: [], policy, call: await describe(ledger, whole, { at }) };
}

type Whole = Snapshot & { readonly call: CallRecord };

async function pastQuestion(
  ledger: Ledger,
  whole: Whole,
  { at, policy = [] }: ToldCall,
): Promise<PastCall | undefined> {
  const question = await firstQuestionOf(ledger, whole);
  // Erased: nobody knows what it was about.
  if (question === undefined || question.shown.why.length === 0) return undefined;
  const { id, shown } = question;
  const call = await describe(ledger, whole, { source: shown.source, at });
  return { id, was: "asked", why: shown.why, policy, decided: endOf(question), call };
}

function askerIn(call: CallRecord, frame: Whole["frame"]): Pick<Asker, "roles" | "authenticated"> {
  return frame?.asker ?? call.asker ?? { authenticated: false };
}

async function describe(
  ledger: Ledger,
  { call, session, frame }: Whole,
  { source, at }: { readonly source?: string | undefined; readonly at: number },
): Promise<PolicyCall> {
  const args = call.originalArgs ?? call.args;
  const { app, agent, tool, requesters = [session.user] } = call;
  const { roles = [], authenticated } = askerIn(call, frame);
  const { annotations, server = source } = await definitionOf(ledger, call.definitionDigest);
  return {
    entryPoint: frame === undefined ? "gate" : "runner",
    app,
    agent,
    tool,
    args,
    shown: redact(args, call.secrets),
    ...(annotations === undefined ? {} : { annotations }),
    ...(server === undefined ? {} : { source: server }),
    // A gated function's session has no user of its own: the user is the caller.
    user: frame === undefined ? (requesters.at(-1) ?? "") : session.user,
    requesters,
    roles,
    authenticated,
    session: session.id,
    state: await ledger.state(session.key),
    at,
  };
}

// A call that asked again has a later question as its current one.
async function firstQuestionOf(
  ledger: Ledger,
  { call, confirmation }: Whole,
): Promise<ConfirmationRecord | undefined> {
  if (confirmation === undefined || confirmation.round === 0) return confirmation;
  const { items } = await ledger.confirmations({ state: "closed", session: call.session }, { limit: 100 });
  return items.find((item) => item.call.id === call.id && item.confirmation.round === 0)?.confirmation;
}

function endOf({ status }: ConfirmationRecord): PastCall["decided"] {
  return status === "requested" ? undefined : status;
}

/** What rules match of the tool's definition. Not known of a remote agent's tools. */
async function definitionOf(
  ledger: Ledger,
  digest: string,
): Promise<{ readonly annotations?: JsonObject; readonly server?: string }> {
  const stored = (await ledger.items.get("tool-definition", digest))?.value;
  if (!isJsonObject(stored)) return {};
  const [annotations, server] = [member(stored, "annotations"), member(stored, "server")];
  return {
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(typeof server === "string" ? { server } : {}),
  };
}
