import { createLedger, type JsonObject, type JsonValue, type Ledger } from "../../../src/index.ts";
import { isJsonObject, type StoredEvent } from "../../../src/protocol/index.ts";
import { LedgerFile } from "../../support/ledger/ledger-file.ts";
import type { CallRow } from "../../support/ledger/ledger-view.ts";
import { check } from "../checker.ts";
import type { LifeLine } from "../life.ts";
import { type ActorOptions, type SessionId, scenarioOf } from "./acting.ts";
import { outcomeLine } from "./puppet.ts";
import { isDenied, SCENARIOS, type Scenario } from "./scenarios.ts";

interface Case extends Pick<ActorOptions, "ledger" | "effects"> {
  readonly sessions: readonly SessionId[];
  readonly promised: readonly LifeLine[];
}

/** Everything that is wrong with runs that are over; nothing, if all is well. */
export async function judge({ ledger: path, effects, sessions, promised }: Case): Promise<readonly string[]> {
  const findings = await check({ ledger: path, effects, promised, moment: "rest" });
  const faults = findings
    .filter(({ message }) => !isTransfer(message))
    .map(({ code, message }) => `${code}: ${message}`);
  const ledger = await createLedger(`sqlite:${path}`);
  const file = new LedgerFile(path);
  try {
    const calls = new Map(file.contents().calls.map((call) => [call.id, call]));
    for (const session of sessions) {
      for (const fault of await judgeSession(ledger, session, calls)) faults.push(`${session}: ${fault}`);
    }
  } finally {
    file.close();
    await ledger.close();
  }
  return faults;
}

// Handing over is a note in the ledger: there is nothing to see of it in the world.
function isTransfer(message: string): boolean {
  return message.includes("(transfer_to_agent) succeeded and did not run");
}

async function judgeSession(
  ledger: Ledger,
  session: SessionId,
  calls: ReadonlyMap<string, CallRow>,
): Promise<readonly string[]> {
  const app = scenarioOf(session);
  const snapshot = await ledger.load({ session: { app, user: "ana", id: session } });
  if (snapshot === undefined) return ["there is no such session"];
  const { key, open } = snapshot.session;
  const events = await ledger.events(key);
  const faults = [...misanswered(events)];
  if (open !== 0) faults.push(`${open} questions are still open`);
  const { said, script } = tell(events, (wireId) => calls.get(`${key}.${wireId}`));
  faults.push(...said);
  const expected: Scenario["script"] = SCENARIOS[app].script;
  if (canonical(script) !== canonical(expected)) {
    faults.push(`went as ${canonical(script)}, not as ${canonical(expected)}`);
  }
  for (const call of calls.values()) {
    if (!call.id.startsWith(`${key}.`)) continue;
    if ((call.status === "denied") !== isDenied(call.tool)) faults.push(`${call.tool} is ${call.status}`);
  }
  return faults;
}

/** Each call is answered by one event, after it; nothing else is answered. */
function* misanswered(events: readonly StoredEvent[]): Generator<string> {
  const open = new Set<string>();
  for (const part of events.flatMap(({ content }) => content?.parts ?? [])) {
    if (part.functionCall !== undefined) open.add(String(part.functionCall.id));
    const { functionResponse } = part;
    if (functionResponse === undefined) continue;
    if (!open.delete(String(functionResponse.id))) yield `${functionResponse.name} was answered twice`;
  }
  for (const id of open) yield `${id} was never answered`;
}

/** What each agent did, and where its words are not what the ledger says of its calls. */
function tell(
  events: readonly StoredEvent[],
  callOf: (wireId: string) => CallRow | undefined,
): { readonly said: readonly string[]; readonly script: { readonly [agent: string]: readonly string[] } } {
  const said: string[] = [];
  const script: { [agent: string]: string[] } = {};
  const expected = new Map<string, string>();
  for (const { author, content, errorCode, errorMessage } of events) {
    if (errorCode !== undefined) said.push(`${author} failed: ${errorMessage}`);
    if (content?.role !== "model") continue;
    const calls = content.parts.flatMap(({ functionCall }) =>
      functionCall === undefined ? [] : [functionCall],
    );
    const text = content.parts.map((part) => part.text ?? "").join("");
    const names = calls.length > 0 ? calls.map(({ name }) => name) : text.split("\n").map(firstWord);
    (script[author] ??= []).push(`${calls.length > 0 ? "calls" : "says"} ${names.join(" ")}`);
    if (calls.length > 0) {
      const lines = calls.map(({ id, name }) =>
        outcomeLine(name, toResponse(callOf(String(id))?.result ?? null)),
      );
      expected.set(author, lines.join("\n"));
    } else if (text !== expected.get(author)) {
      said.push(`${author} said ${text}; the ledger says ${expected.get(author)}`);
    }
  }
  return { said, script };
}

function toResponse(result: JsonValue): JsonObject {
  return isJsonObject(result) ? result : { result };
}

function firstWord(line: string): string {
  return line.slice(0, line.indexOf(" "));
}

function canonical(script: { readonly [agent: string]: readonly string[] }): string {
  return JSON.stringify(Object.entries(script).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
