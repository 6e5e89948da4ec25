import { type CallStatus, Engine, isAnswered, valueDigest } from "../../src/engine/index.ts";
import { isJsonObject, type JsonValue } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { type Effect, readEffects } from "../support/ledger/effects.ts";
import { type CallRow, type LedgerContents, WATCH } from "../support/ledger/ledger-view.ts";
import { type LedgerPlace, lookAt, urlOf } from "../support/ledger/open-view.ts";
import { byCall, type CallRecordLine, replay } from "./history.ts";
import { type LifeLine, SECRET, TOOL_FAILURE } from "./life.ts";

/** What can be wrong with a run. */
export type FindingCode =
  /** A body or a step ran before its approvals were committed. */
  | "unapproved-run"
  /** A body ran before its claim was committed. */
  | "unclaimed-run"
  /** What may happen once happened twice, and no person had said to run it again. */
  | "second-run"
  /** Two runs of one thing had different idempotency keys. */
  | "key-changed"
  /** Something ran, and the ledger does not own up to it. */
  | "unaccounted-run"
  /** The ledger has a result of something that did not run. */
  | "phantom-result"
  /** A promise resolved, and the ledger does not have what it promised. */
  | "lost-decision"
  | "lost-record"
  | "lost-answer"
  /** The votes that stand are not those that the journal tells of, or one of them is there twice. */
  | "wrong-votes"
  /** People were told of the same thing twice. */
  | "told-twice"
  /** A call was taken from a process whose lease still ran. */
  | "early-takeover"
  /** A call's history is not a path through the lifecycle. */
  | "illegal-history"
  /** At rest, and neither answered nor shown to a person as unknown. */
  | "stuck-call"
  | "stuck-frame"
  | "unreported-unknown"
  /** The audit trail does not verify. */
  | "broken-chain";

export interface Finding {
  readonly code: FindingCode;
  readonly message: string;
  /** Which call ran, or which session lost something, where it is about that. */
  readonly about?: string;
}

/** What processes said before they died: it holds for ever. */
export type Promised = readonly LifeLine[];

/** `running`: only what must never be. `rest`: nothing is on its way any more. */
export type Moment = "running" | "rest";

interface Evidence {
  readonly effects: readonly Effect[];
  readonly ledger: LedgerContents;
  readonly calls: ReadonlyMap<string, CallRow>;
  readonly histories: ReadonlyMap<string, readonly CallRecordLine[]>;
  readonly promised: Promised;
}

type Report = (code: FindingCode, message: string, about?: string) => void;

/**
 * Judges a run by what the world and the ledger's file say, with none of the engine's own reading code. May
 * be asked at any moment, also while processes run; what holds only at rest is asked at rest.
 */
export async function check(input: {
  readonly ledger: LedgerPlace;
  readonly effects: string;
  readonly promised: Promised;
  readonly moment: Moment;
}): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const report: Report = (code, message, about) =>
    findings.push({ code, message, ...(about === undefined ? {} : { about }) });
  // In this order: whatever ran, and whatever was promised, must be explained by what is read after it.
  const promised = [...input.promised];
  const effects = readEffects(input.effects, { othersWrite: input.moment === "running" });
  const ledger = (await lookAt(input.ledger, (view) => view.contents())) ?? NOTHING;
  const calls = new Map(ledger.calls.map((call) => [call.id, call]));
  const evidence = { effects, ledger, calls, histories: byCall(ledger.journal), promised };
  checkRuns(evidence, report);
  checkPromises(evidence, report);
  checkTakeovers(evidence, report);
  checkHistories(evidence, report);
  checkVotes(ledger, report);
  if (input.moment === "running") return findings;
  checkRest(evidence, report);
  await checkOwnWord(input.ledger, evidence, report);
  return findings;
}

const NOTHING: LedgerContents = {
  digestKey: new Uint8Array(),
  sessions: [],
  calls: [],
  frames: [],
  confirmations: [],
  journal: [],
};

function checkRuns(evidence: Evidence, report: Report): void {
  const runs = new Map<string, Effect[]>();
  for (const effect of evidence.effects) {
    checkRun(evidence, effect, report);
    const thing = `${effect.call} ${effect.what}`;
    runs.set(thing, [...(runs.get(thing) ?? []), effect]);
  }
  for (const [thing, again] of runs) checkRepeats(evidence, thing, { again, report });
}

function checkRun({ ledger, calls, histories }: Evidence, effect: Effect, report: Report): void {
  const call = calls.get(effect.call);
  const earlier = (histories.get(effect.call) ?? []).filter(({ seq }) => seq <= effect.seq);
  const title = `${effect.what} of ${effect.call} (${effect.tool}), attempt ${effect.attempt}`;
  const digest = valueDigest(ledger.digestKey, effect.args);
  const approvals = earlier.filter(
    ({ kind, body }) => kind === "confirmation-approved" && body["argsDigest"] === digest,
  );
  if (approvals.length < effect.approvals)
    report(
      "unapproved-run",
      `${title} ran with ${approvals.length} of ${effect.approvals} approvals`,
      effect.call,
    );
  if (!earlier.some((line) => startsAttempt(line, effect.attempt)))
    report("unclaimed-run", `${title} ran before it was claimed`, effect.call);
  if (effect.what === "body" && (call === undefined || isDisowned(call)))
    report("unaccounted-run", `${title} ran, and the ledger says ${call?.status ?? "nothing"}`, effect.call);
}

function startsAttempt({ kind, body }: CallRecordLine, attempt: number): boolean {
  if (kind === "call-started") return body["attempt"] === attempt;
  const started = body["started"];
  return kind === "confirmation-approved" && isJsonObject(started) && started["attempt"] === attempt;
}

const DISOWNED: ReadonlySet<CallStatus> = new Set(["waiting", "suspended", "denied", "expired", "cancelled"]);

function isDisowned({ status }: CallRow): boolean {
  return DISOWNED.has(status);
}

function checkRepeats(
  { calls, histories }: Evidence,
  thing: string,
  { again, report }: { readonly again: readonly Effect[]; readonly report: Report },
): void {
  const keys = new Set(again.map(({ key }) => key));
  if (keys.size > 1) report("key-changed", `${thing} ran under ${[...keys].join(" and ")}`);
  const [first] = again;
  if (first === undefined || calls.get(first.call)?.repeatable === true) return;
  const retries = (histories.get(first.call) ?? []).filter(
    ({ kind, body }) => kind === "call-settled" && body["as"] === "retry",
  );
  for (const [index, effect] of again.entries()) {
    const before = again[index - 1];
    if (before === undefined) continue;
    const told = retries.some(({ body }) => {
      const attempt = Number(body["attempt"]);
      return attempt >= before.attempt && attempt < effect.attempt;
    });
    if (!told) report("second-run", `${thing} ran in ${runOf(before)} and in ${runOf(effect)}`);
  }
}

function runOf({ attempt, pid }: Effect): string {
  return `attempt ${attempt} (process ${pid})`;
}

function checkPromises({ ledger, calls, histories, promised }: Evidence, report: Report): void {
  const confirmations = new Map(ledger.confirmations.map((one) => [one.id, one]));
  const records = new Set(ledger.journal.map(({ stream, n, kind }) => `${stream} ${n} ${kind}`));
  for (const line of promised) {
    if (line.type === "decided" || line.type === "withdrawn") {
      const verdict = line.type === "withdrawn" ? "cancelled" : line.confirmed ? "approved" : "denied";
      const { status } = confirmations.get(line.confirmation) ?? {};
      if (status !== verdict)
        report(
          "lost-decision",
          `${line.confirmation} was ${verdict}; the ledger says ${status ?? "nothing"}`,
          line.session,
        );
    }
    if (line.type === "voted" || line.type === "unvoted") {
      const kind = line.type === "voted" ? "vote-cast" : "vote-withdrawn";
      const kept = ledger.journal.some(
        (record) =>
          record.kind === kind &&
          record.body["confirmation"] === line.confirmation &&
          isJsonObject(record.body["by"]) &&
          record.body["by"]["id"] === line.by,
      );
      if (!kept) report("lost-decision", `${line.confirmation}: no ${kind} of ${line.by}`);
    }
    if (line.type === "settled-call") {
      const kept = histories
        .get(line.call)
        ?.some(({ kind, body }) => kind === "call-settled" && body["as"] === line.as);
      if (kept !== true) report("lost-decision", `${line.call} was settled as ${line.as}; nothing says so`);
    }
    if (line.type === "finished" && isAnswered(line.status)) {
      const status = calls.get(line.call)?.status;
      if (status !== line.status)
        report("lost-answer", `${line.call} was ${line.status}; the ledger says ${status ?? "nothing"}`);
    }
    if (line.type === "committed") {
      for (const record of line.records.filter((one) => !records.has(one)))
        report("lost-record", `${record} was acknowledged and is not in the journal`, record.split(" ")[0]);
    }
  }
}

/** Whoever said that its lease ran until some moment must have been left its calls until then. */
function checkTakeovers({ ledger, promised }: Evidence, report: Report): void {
  const leases = new Map<string, { readonly from: number; readonly until: number }[]>();
  const retired = new Map(
    promised.flatMap((line) => (line.type === "retiring" ? [[line.owner, line.at] as const] : [])),
  );
  for (const line of promised) {
    if (line.type !== "beat") continue;
    const until = Math.min(line.sentAt + line.leaseMs, retired.get(line.owner) ?? Number.POSITIVE_INFINITY);
    const lease = { from: line.sentAt, until };
    const others = leases.get(line.owner);
    if (others === undefined) leases.set(line.owner, [lease]);
    else others.push(lease);
  }
  for (const { at, kind, body } of ledger.journal) {
    const { call, owner } = body;
    if (kind !== "call-unknown" && kind !== "call-released") continue;
    if (typeof call !== "string" || typeof owner !== "string") continue;
    const lease = leases.get(owner)?.find(({ from, until }) => from <= at && at < until);
    if (lease !== undefined)
      report("early-takeover", `${call} was taken from ${owner} ${lease.until - at} ms too early`);
  }
}

function checkHistories({ calls, histories }: Evidence, report: Report): void {
  for (const [id, lines] of histories) {
    const call = calls.get(id);
    const replayed = replay(lines);
    if (!replayed.ok) report("illegal-history", `${id}: ${replayed.message}`);
    else if (replayed.status !== call?.status || replayed.attempt !== call?.attempt)
      report(
        "illegal-history",
        `${id}: the journal leads to ${replayed.status}, attempt ${replayed.attempt}; the call is ${call?.status}, attempt ${call?.attempt}`,
      );
  }
  for (const id of calls.keys()) {
    if (!histories.has(id)) report("illegal-history", `${id}: the journal does not know the call`);
  }
}

const VOTED = /^(vote-cast|confirmation-(approved|denied))$/;

/** The votes of a question are those that its records tell of, one after another; people are told once of each thing. */
function checkVotes({ confirmations, journal }: LedgerContents, report: Report): void {
  const lines = Map.groupBy(journal, ({ body }) => body["confirmation"]);
  for (const { id, votes } of confirmations) {
    const standing = new Set<string>();
    const told = new Set<string>();
    for (const { kind, body } of lines.get(id) ?? []) {
      const by = isJsonObject(body["by"]) ? JSON.stringify(body["by"]["id"]) : "";
      for (const gone of (body["ended"] ?? []) as readonly string[]) standing.delete(JSON.stringify(gone));
      if (kind === "vote-withdrawn") standing.delete(by);
      if (VOTED.test(kind)) standing.add(by);
      if (kind !== "confirmation-reminded" && kind !== "confirmation-escalated") continue;
      const news = `${kind} of ${JSON.stringify(body["due"])}`;
      if (told.has(news)) report("told-twice", `${id}: ${news}`);
      told.add(news);
    }
    const stored = votes.map(({ by }) => JSON.stringify(by.id));
    if (stored.join() !== [...standing].join())
      report(
        "wrong-votes",
        `${id} has votes of ${stored.join()}; the journal tells of ${[...standing].join()}`,
      );
  }
}

function checkRest({ effects, ledger, histories }: Evidence, report: Report): void {
  // What an unknown call of a session keeps waiting goes on once a person has settled it.
  const blocked = new Set(
    ledger.calls.filter(({ status }) => status === "unknown").map(({ session }) => session),
  );
  const ran = new Set(effects.filter(({ what }) => what === "body").map(({ call }) => call));
  for (const call of ledger.calls) {
    const waits = call.status === "suspended" && blocked.has(call.session);
    const watches = call.status === "executing" && call.tool === WATCH;
    if (!isAnswered(call.status) && call.status !== "unknown" && !waits && !watches)
      report("stuck-call", `${call.id} (${call.tool}) is ${call.status}`);
    const settled = histories.get(call.id)?.some(({ kind }) => kind === "call-settled") === true;
    const returned = histories.get(call.id)?.some(({ kind }) => kind === "call-returned") === true;
    if (call.status === "succeeded" && !ran.has(call.id) && !settled && !returned)
      report("phantom-result", `${call.id} (${call.tool}) succeeded and did not run`);
    if (call.status === "failed" && !settled && !isToolsOwn(call.result))
      report("phantom-result", `${call.id} (${call.tool}) failed: ${JSON.stringify(call.result)}`);
  }
  for (const frame of ledger.frames) {
    const ended = frame.status === "done" || frame.status === "failed" || frame.status === "cancelled";
    if (!ended && !(frame.status === "waiting" && blocked.has(frame.session)))
      report("stuck-frame", `${frame.id} is ${frame.status}`);
  }
}

function isToolsOwn(result: JsonValue): boolean {
  return isJsonObject(result) && result["error"] === TOOL_FAILURE;
}

// What people are shown, by where they are shown it.
async function checkOwnWord(
  place: LedgerPlace,
  { ledger, histories }: Evidence,
  report: Report,
): Promise<void> {
  const engine = new Engine({ ledger: await createLedger(urlOf(place)), secret: SECRET });
  try {
    const listed = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const page = await engine.ledger.unknownCalls(cursor === undefined ? {} : { cursor });
      for (const { id } of page.items) listed.add(id);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    for (const { id } of ledger.calls.filter(({ status }) => status === "unknown")) {
      const told = histories.get(id)?.some(({ kind }) => kind === "call-unknown") === true;
      if (!told || !listed.has(id)) report("unreported-unknown", `${id} is unknown and nobody is told`);
    }
    const { faults } = await engine.verify();
    for (const { where, what } of faults) report("broken-chain", `${where}: ${what}`);
  } finally {
    await engine.close();
  }
}
