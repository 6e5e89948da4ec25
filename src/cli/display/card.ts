import {
  type Approvers,
  type CallRecord,
  type ConfirmationRecord,
  changedMembers,
  type GrantLimits,
  type GrantUse,
  hintForPeople,
  mayDecide,
  type OwnerState,
  type Principal,
  type Requirement,
  redact,
  type SettlementRecord,
  type Sighting,
  shownStatus,
  type Vote,
} from "../../engine/index.ts";
import { type JsonValue, member } from "../../protocol/index.ts";
import { describeTime, exactDuration } from "../duration.ts";
import { type FoundCall, idToDecide, shortId } from "../find-confirmation.ts";
import { inert, type Output, type Style } from "../output.ts";
import { changedLines, changeOnOneLine } from "./change.ts";
import { textWidth, wrapTo } from "./text-width.ts";

const LABEL_WIDTH = 12;
const INDENT = "  ";

const STATUS_STYLES: { readonly [status: string]: Style } = {
  requested: "yellow",
  unknown: "red",
  failed: "red",
  succeeded: "green",
  approved: "green",
  executing: "cyan",
};

/** The call's status, coloured. */
export function statusText(output: Pick<Output, "style">, status: string): string {
  return output.style(STATUS_STYLES[status] ?? "dim", status);
}

/** A call's status, as in the API. */
export function statusOf({ call, confirmation }: Pick<FoundCall, "call" | "confirmation">): string {
  return confirmation === undefined ? call.status : shownStatus(confirmation.status, call.status);
}

/**
 * Everything that a person should see before they decide. Text after a bar comes from others. The arguments are
 * complete, except for declared secrets.
 */
export function printCard(output: Output, found: FoundCall, owner?: OwnerState): void {
  const { call, confirmation, now } = found;
  const status = statusOf(found);
  output.line(`${output.style("bold", inert(call.tool))}  ${statusText(output, status)}`);
  printHint(output, confirmation);
  output.line();
  printArguments(output, call);
  if (confirmation !== undefined) printQuestion(output, confirmation, now);
  printField(output, "in", describePlace(found));
  printField(output, "id", confirmation?.id ?? call.id);
  if (call.grant !== undefined) printField(output, "allowed by", describeUse(call.grant));
  for (const vote of confirmation?.votes ?? []) printVote(output, vote, now);
  if (confirmation?.withdrawal !== undefined) printField(output, "cancelled", inert(confirmation.withdrawal));
  printRun(output, call, { now, ...(owner === undefined ? {} : { owner }) });
}

function printHint(output: Output, confirmation: ConfirmationRecord | undefined): void {
  const hint = hintForPeople(confirmation?.shown.hint ?? "");
  if (hint === "") return;
  output.line();
  output.quote(hint, INDENT);
}

function printArguments(output: Output, { args, originalArgs, secrets }: CallRecord): void {
  const shown = redact(args, secrets);
  if (originalArgs === undefined) return printValue(output, "arguments", shown);
  const asked = redact(originalArgs, secrets);
  printValue(output, "asked for", asked);
  printValue(output, "changed to", shown);
  for (const [place, name] of changedMembers(originalArgs, args).entries()) {
    const [before, after] = [member(asked, name), member(shown, name)];
    const label = place === 0 ? "changed" : "";
    const short = `${inert(name)}: ${changeOnOneLine(before, after)}`;
    const isShort = textWidth(short) + LABEL_WIDTH + INDENT.length <= output.width;
    printField(output, label, isShort ? short : inert(name));
    if (!isShort) output.quote(changedLines(before, after), `${INDENT}${INDENT}`);
  }
}

/** How to decide an open confirmation, or settle an unknown call, for people who may. */
export function printWhatToDo(
  output: Output,
  found: FoundCall,
  { viewer, commandLine }: { readonly viewer: Principal; readonly commandLine: (words: string) => string },
): void {
  const { call, confirmation } = found;
  const lines = waysOn(call, confirmation);
  if (lines.length === 0) return;
  output.line();
  if (confirmation !== undefined && !mayDecide(confirmation, viewer)) {
    output.prose(`You are ${inert(viewer.id)}. You may not decide this.`);
    return;
  }
  if (call.status === "unknown") {
    // Approved in a backup, and not started there.
    const what = call.startedAt === undefined ? "It may have run" : "It started";
    output.prose(`${what}, but the outcome is unknown. Find out what happened, then run one of these:`);
  }
  for (const line of lines) output.line(commandLine(line));
}

function describeAmendable(amendable: true | readonly string[]): string {
  return amendable === true ? "every argument" : amendable.map((name) => inert(name)).join(", ");
}

/** The arguments of `approve` or `deny` that decide exactly the version shown. */
export function wordsToDecide(confirmation: ConfirmationRecord): string {
  const { shownVersion: version } = confirmation;
  return `${idToDecide(confirmation)}${version === 1 ? "" : ` --shown-version ${version}`}`;
}

function waysOn(call: CallRecord, confirmation: ConfirmationRecord | undefined): readonly string[] {
  if (confirmation?.status === "requested") {
    const { shown } = confirmation;
    const payload = shown.schema === undefined ? "" : " --payload JSON";
    return [
      `approve ${wordsToDecide(confirmation)}${payload}`,
      `deny ${wordsToDecide(confirmation)} --reason TEXT`,
    ];
  }
  if (call.status !== "unknown") return [];
  const id = confirmation === undefined ? call.id : shortId(confirmation.id);
  const again = call.attempt > 1 ? `--retry --attempt ${call.attempt}` : "--retry";
  // A grant allows one run.
  const retry = call.grant === undefined ? again : "--failed TEXT --did-not-happen";
  return ["--succeeded JSON", "--failed TEXT", retry].map((word) => `settle ${id} ${word}`);
}

function printQuestion(output: Output, confirmation: ConfirmationRecord, now: number): void {
  const { shown, expiresAt } = confirmation;
  if (shown.payload !== undefined) printValue(output, "example", shown.payload);
  if (shown.schema !== undefined) printValue(output, "asks for", shown.schema);
  if (shown.amendable !== undefined) printField(output, "may change", describeAmendable(shown.amendable));
  printField(output, "why", shown.why.map((reason) => inert(reason)).join(", "));
  if (shown.source !== undefined) printField(output, "source", inert(shown.source));
  printField(output, "asked by", confirmation.requesters.map((name) => inert(name)).join(", "));
  printField(output, "asked", describeTime(confirmation.requestedAt, now));
  printSightings(output, confirmation.seen ?? [], now);
  printField(output, "deadline", expiresAt === undefined ? "none" : describeTime(expiresAt, now));
  for (const [place, requirement] of confirmation.requirements.entries())
    printField(output, "may decide", describeProgress(confirmation, requirement, place));
  if (confirmation.denials !== undefined) printField(output, "denied by", `${confirmation.denials} denials`);
  if (confirmation.grants !== undefined) printField(output, "may grant", describeLimits(confirmation.grants));
  printField(output, "digest", confirmation.argsDigest);
}

function printSightings(output: Output, seen: readonly Sighting[], now: number): void {
  for (const [place, { by, at }] of seen.entries())
    printField(output, place === 0 ? "seen by" : "", `${inert(by.id)}, ${describeTime(at, now)}`);
}

function printVote(output: Output, vote: Vote, now: number): void {
  const known = vote.by.authenticated ? "" : ", unauthenticated";
  const verdict = vote.confirmed ? "approved" : "denied";
  const amended = vote.args === undefined ? "" : ", with changed arguments";
  const forWhom = vote.delegated === undefined ? "" : ` for ${inert(vote.delegated.from)}`;
  printField(output, verdict, `by ${inert(vote.by.id)}${forWhom} (${inert(vote.via)}${known})${amended}`);
  printField(output, "", describeTime(vote.at, now));
  if (vote.reason !== undefined) printField(output, "reason", inert(vote.reason));
  if (vote.payload !== undefined) printValue(output, "payload", vote.payload);
  if (vote.grant !== undefined) printField(output, "granted", describeLimits(vote.grant));
}

function describeUse({ id, by }: GrantUse): string {
  return `grant ${inert(id)} of ${by.map((name) => inert(name)).join(", ")}`;
}

function describeLimits({ scope, forMs, count, sum = {}, where = [] }: GrantLimits): string {
  const sums = Object.entries(sum).map(([argument, most]) => `, ${most} in sum of ${inert(argument)}`);
  const conditions = where.map((condition) => `, only where ${inert(condition)}`);
  const sessions = scope === "user" ? ", in all sessions of the requester with this agent" : "";
  return `for ${exactDuration(forMs)}, ${count} calls${sums.join("")}${conditions.join("")}${sessions}`;
}

function printRun(
  output: Output,
  call: CallRecord,
  { now, owner }: { readonly now: number; readonly owner?: OwnerState },
): void {
  // A person who looks for the outcome can search for this key, if the tool passed it on.
  if (call.status === "unknown") printField(output, "key", inert(call.id));
  if (call.startedAt !== undefined) {
    printField(output, "started", `${describeTime(call.startedAt, now)}, attempt ${call.attempt}`);
  }
  if (owner !== undefined) {
    const state = owner.alive ? "alive" : "lost";
    printField(output, "run by", `${inert(owner.host)}, process ${owner.pid} (${state})`);
    printField(output, "last seen", describeTime(owner.lastBeatAt, now));
  }
  if (call.endedAt !== undefined) printField(output, "ended", describeTime(call.endedAt, now));
  if (call.settled !== undefined) printSettlement(output, call.settled, now);
  if (call.result !== undefined) printValue(output, "result", call.result);
}

const SETTLED = {
  succeeded: "as succeeded",
  failed: "as failed",
  retry: "as not happened; it runs again",
} as const;

function printSettlement(output: Output, settled: SettlementRecord, now: number): void {
  const { as, happened, refunded, by, via, at } = settled;
  const what = happened === false ? "as failed; it did not happen" : SETTLED[as];
  const known = by.authenticated ? "" : ", unauthenticated";
  printField(output, "settled", `${what}, by ${inert(by.id)} (${inert(via)}${known})`);
  if (refunded === true) printField(output, "", "its use was given back to the grant");
  printField(output, "", describeTime(at, now));
}

/** A complete value from others, on one line if it fits. */
export function printValue(output: Output, label: string, value: JsonValue): void {
  const flat = inert(JSON.stringify(value));
  if (textWidth(flat) + LABEL_WIDTH + INDENT.length + 2 <= output.width) {
    output.line(`${INDENT}${output.style("dim", `${label.padEnd(LABEL_WIDTH)}│`)} ${flat}`);
    return;
  }
  printField(output, label, "");
  output.quote(JSON.stringify(value, null, 2), `${INDENT}${INDENT}`);
}

function printField(output: Output, label: string, text: string): void {
  const [first = "", ...rest] = wrapTo(text, output.width - LABEL_WIDTH - INDENT.length);
  output.line(`${INDENT}${output.style("dim", label.padEnd(LABEL_WIDTH))}${first}`.trimEnd());
  for (const line of rest) output.line(`${INDENT}${" ".repeat(LABEL_WIDTH)}${line}`);
}

function describePlace({ call, session }: FoundCall): string {
  const agent = call.agent === call.app ? "" : `, agent ${inert(call.agent)}`;
  return `${inert(call.app)}${agent}, session ${inert(session.id)}`;
}

function describeProgress(
  { votes }: ConfirmationRecord,
  { from, count, group }: Requirement,
  place: number,
): string {
  const who = group === undefined ? describeApprovers(from) : `${inert(group)} (${describeApprovers(from)})`;
  const given = votes.filter(({ slot }) => slot?.requirement === place).length;
  return count === 1 && given === 0 ? who : `${who}: ${given} of ${count} approved`;
}

function describeApprovers(approvers: Approvers): string {
  if (approvers === "requester") return "the requester, and local users of this machine";
  const { roles = [], users = [], notRequester } = approvers;
  const named = [...roles.map((role) => `role ${inert(role)}`), ...users.map((user) => inert(user))];
  const who = named.join(", ") || "any logged-in user";
  return notRequester === true ? `${who}; not the requester` : who;
}
