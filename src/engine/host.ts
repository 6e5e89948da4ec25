import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { CallContext, CallEnd } from "./calls/index.ts";
import type { PayloadReading } from "./common/index.ts";
import type {
  CallRecord,
  ConfirmationRecord,
  FrameRecord,
  PolicyNote,
  SessionRecord,
  Shown,
} from "./ledger/index.ts";
import type { EngineParts } from "./parts.ts";
import type { Approvers, Requirement } from "./people/index.ts";
import type { AskedCall, Question } from "./questions/index.ts";

/** How people are asked about a tool's own questions. */
export interface AskingRules {
  readonly approvers: Approvers;
  readonly expiresInMs?: number;
  readonly onDenied?: "invoke";
}

/** A tool as this process has it now, for a call that was stored earlier. */
export interface LiveTool {
  readonly definitionDigest: string;
  readonly asking: AskingRules;
  /** The reason of a deny rule that applies to this call now. Checked again at every claim. */
  denies?(about: StoredCall): string | undefined | Promise<string | undefined>;
  /** The card of the call with the changed definition; undefined if its arguments no longer fit. */
  showAgain?(about: StoredCall): Promise<ShownAgain | undefined>;
  /** Judges arguments that a person changed, as if the model had sent them. Absent: they may not be changed. */
  amend?(about: StoredCall, args: JsonObject): Promise<Amendment>;
  /** The approval's payload as the function gets it: the tool's own schema may be stricter than the form. */
  readPayload?(sent: JsonValue): Promise<PayloadReading>;
  /** Runs the function with the call's arguments. */
  run(call: CallRecord, context: CallContext): Promise<JsonValue | undefined | CallEnd>;
}

/** A stored call with the records that were loaded with it. */
export interface StoredCall {
  readonly call: CallRecord;
  readonly session: Pick<SessionRecord, "id" | "user" | "grants">;
  readonly frame?: FrameRecord | undefined;
  readonly confirmation?: ConfirmationRecord | undefined;
}

/** A card for a tool that changed, and who must approve it now. */
export interface ShownAgain extends Pick<Question, "denials" | "remindAfterMs" | "escalate"> {
  readonly shown: Shown;
  readonly requirements: readonly Requirement[];
  /** How long the question stays open; default: as the tool's author says. */
  readonly expiresInMs?: number;
  /** Which rules applied. */
  readonly policy?: readonly PolicyNote[];
}

/** The arguments that would run and who must approve them, or why they are refused. */
export type Amendment =
  /** With how rules want people to be asked about these arguments. */
  | ({
      readonly ok: true;
      readonly args: JsonObject;
      readonly requirements: readonly Requirement[];
      /** The card of the call with these arguments. */
      readonly shown: Pick<Shown, "hint" | "why" | "amendable">;
    } & Pick<Question, "denials" | "expiresInMs" | "escalate" | "policy">)
  | {
      readonly ok: false;
      readonly code: "arguments-mismatch" | "policy-denied";
      readonly field?: string;
      readonly message: string;
    };

/** An app that a process hosts, and which of its agents. Default: all. */
export interface HostedApp {
  readonly app: string;
  /** A deploy may have renamed or removed agents; their calls wait for a process that has them. */
  readonly agents?: readonly string[];
}

/** Does this process have the agent that a call or a frame belongs to? A call that its caller runs has no host. */
export function hostOf(
  hosts: ReadonlyMap<string, Host>,
  { app, agent, runs }: { readonly app: string; readonly agent: string; readonly runs?: "caller" },
): Host | undefined {
  const host = runs === "caller" ? undefined : hosts.get(app);
  return host?.agents === undefined || host.agents.includes(agent) ? host : undefined;
}

/** The tool of a stored call, as this process has it now. */
export type FoundTool =
  /** Undefined if the tool no longer exists. */
  | { readonly here: true; readonly tool: LiveTool | undefined }
  /** Another process has it, or its server does not answer now. It is not gone. */
  | { readonly here: false };

/** Finds the tool of a stored call. Returns a promise only if the host needs one; most hosts answer at once. */
export function findTool(
  { hosts, callers }: Pick<EngineParts, "hosts" | "callers">,
  call: CallRecord,
): FoundTool | Promise<FoundTool> {
  const host = call.runs === "caller" ? callers : hostOf(hosts, call);
  if (host === undefined) return { here: false };
  try {
    const tool = host.tool(call);
    if (!(tool instanceof Promise)) return { here: true, tool };
    return tool.then(
      (found) => ({ here: true, tool: found }),
      () => ({ here: false }),
    );
  } catch {
    return { here: false };
  }
}

/** What one process can run of one app. A process works only on the apps that it hosts. */
export interface Host extends HostedApp {
  /** The tool that a call names, or undefined if it no longer exists. */
  tool(call: CallRecord): LiveTool | undefined | Promise<LiveTool | undefined>;
  /** A question about one of its calls was just committed by this process. */
  asked?(asked: AskedCall): void;
  /** Continues the host's own stored work that no process is doing. Called in every round of work. */
  sweep?(): Promise<void>;
  /** Continues a frame whose step this process has claimed. Must not reject. */
  step?(frame: FrameRecord): Promise<void>;
}
