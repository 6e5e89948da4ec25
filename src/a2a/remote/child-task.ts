import { hash } from "node:crypto";
import { type Artifact, type Message, type Part, type Task, TaskState } from "@a2a-js/sdk";
import {
  canonicalJson,
  decodeAskUserRequest,
  decodeToolApprovalRequest,
  isJsonObject,
  isReservedName,
  type JsonObject,
  type JsonValue,
  member,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  readHitlPayload,
  toJsonValue,
} from "../../protocol/index.ts";
import { ASK_USER } from "../../runtime/index.ts";
import { isSettleNotice } from "../messages/index.ts";

/** One of the child's calls that a person is to decide, under the child's own ids. JSON, as it is kept. */
export type ChildAsk = Readonly<{ id: string; callId: string; name: string; args: JsonObject; hint: string }>;

/** The form of a pause, and so of its answer: the extension, the ADK's form, or that of older kagents. */
export type PauseForm = "approvals" | "questions" | "adk" | "kagent";

/** The state of a remote task that waits or has ended. JSON, stored on the parent's frame. */
export type Rest =
  | { readonly state: "said"; readonly text: string }
  | { readonly state: "failed"; readonly message: string }
  /** A person has to settle something there first. */
  | { readonly state: "unsettled"; readonly message: string }
  | {
      readonly state: "asks";
      readonly form: PauseForm;
      readonly asks: readonly ChildAsk[];
      /** The agent below the child that asks, where the child says so. */
      readonly agent?: string;
    };

/** A state in which people are asked. */
export type Asking = Extract<Rest, { state: "asks" }>;

/** Identifies a pause by everything that people are shown: an agent may ask something else under the same ids. */
export function pauseDigest({ form, asks, agent = "" }: Asking): string {
  return hash("sha256", canonicalJson({ form, asks, agent }), "base64url");
}

/** Is this the pause with that digest? */
export function isPause(rest: Rest | undefined, digest: string): boolean {
  return rest?.state === "asks" && pauseDigest(rest) === digest;
}

const LONGEST_NAME = 128;

/** The tools that a remote agent's frame uses; reserved names for remote tools. */
export const MESSAGE_TOOL = "a2a_message";
export const ANSWER_TOOL = "a2a_answer";

/** The task's state; undefined while it is working. Its content is shown to people and decides nothing. */
export function restOf({ status, artifacts }: Task): Rest | undefined {
  const { state, message } = status ?? { state: TaskState.UNRECOGNIZED };
  switch (state) {
    case TaskState.TASK_STATE_SUBMITTED:
    case TaskState.TASK_STATE_WORKING:
      return undefined;
    case TaskState.TASK_STATE_COMPLETED:
      return { state: "said", text: textOf(artifacts, message) };
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return pauseIn(message);
    case TaskState.TASK_STATE_FAILED:
      return failed("failed", message);
    case TaskState.TASK_STATE_CANCELED:
      return failed("was canceled", message);
    case TaskState.TASK_STATE_REJECTED:
      return failed("was rejected", message);
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return failed("requires a login", message);
    default:
      return failed("is in an unknown state", message);
  }
}

function failed(how: string, message: Message | undefined): Rest {
  const said = wordsIn(message?.parts ?? []);
  return { state: "failed", message: `The task ${how}${said === "" ? "" : `: ${said}`}` };
}

/** What an answer without a task says. */
export function answerIn({ parts }: Message): Rest {
  return { state: "said", text: wordsIn(parts) };
}

function textOf(artifacts: readonly Artifact[], message: Message | undefined): string {
  const told = wordsIn(artifacts.flatMap(({ parts }) => parts));
  return told === "" ? wordsIn(message?.parts ?? []) : told;
}

function wordsIn(parts: readonly Part[]): string {
  // The remote agent may send anything instead of text.
  const spoken = parts.filter(({ metadata }) => metadata?.["adk_thought"] !== true);
  const texts = spoken.map(({ content }): unknown => (content?.$case === "text" ? content.value : ""));
  return texts.filter((text) => typeof text === "string").join("");
}

function pauseIn(message: Message | undefined): Rest {
  if (message === undefined) return failed("waits for an answer, but asks nothing", message);
  if (isSettleNotice(message)) return { state: "unsettled", message: wordsIn(message.parts) };
  const { extensions, metadata = {} } = message;
  const payload = readHitlPayload({ extensions, metadata });
  if (!payload.ok) return unreadable(payload.message);
  if (payload.value !== undefined) return extensionPause(payload.value);
  const parts = message.parts.flatMap(requestIn);
  if (parts.length > 0) return dataPause(parts);
  // A question in plain text is an ordinary answer; the caller may reply with the next message.
  return { state: "said", text: wordsIn(message.parts) };
}

function extensionPause(payload: JsonObject): Rest {
  if (member(payload, "type") === "ask_user_request") {
    const asked = decodeAskUserRequest(payload);
    if (!asked.ok) return unreadable(asked.message);
    const { id, questions } = asked.value;
    const args: JsonObject = { questions: questions.map((one) => ({ ...one })) };
    const hint = questions.map(({ question }) => question).join("\n");
    return { state: "asks", form: "questions", asks: [{ id, callId: id, name: ASK_USER, args, hint }] };
  }
  const asked = decodeToolApprovalRequest(payload);
  if (!asked.ok) return unreadable(asked.message);
  const { nested, asks } = asked.value;
  // If the remote agent's own remote agent asks, answer those questions.
  const pause = checked(
    "approvals",
    (nested?.asks ?? asks).map(({ id, call, hint }) => ({
      id,
      callId: call.id,
      name: call.name,
      args: call.args,
      hint,
    })),
  );
  return pause.state === "asks" && nested?.subagentName !== undefined
    ? { ...pause, agent: nested.subagentName }
    : pause;
}

interface RequestPart {
  readonly data: JsonObject;
  readonly isKagents: boolean;
}

function requestIn({ content, metadata }: Part): readonly RequestPart[] {
  if (content?.$case !== "data") return [];
  const data = toJsonValue(content.value ?? null);
  if (!data.ok || !isJsonObject(data.value)) return [];
  const about: JsonObject = isJsonObject(metadata) ? metadata : {};
  const isCall = ["adk_type", "kagent_type"].some((name) => member(about, name) === "function_call");
  if (!isCall || member(data.value, "name") !== REQUEST_CONFIRMATION_FUNCTION_NAME) return [];
  return [{ data: data.value, isKagents: member(about, "kagent_type") !== undefined }];
}

function dataPause(parts: readonly RequestPart[]): Rest {
  const asks: ChildAsk[] = [];
  for (const { data } of parts) {
    const args = objectIn(data, "args");
    const call = objectIn(args, "originalFunctionCall");
    const [id, callId, name] = [textIn(data, "id"), textIn(call, "id"), textIn(call, "name")];
    if (id === "" || name === "") return unreadable("a request without an id or a tool");
    const hint = textIn(objectIn(args, "toolConfirmation"), "hint");
    asks.push({ id, callId: callId === "" ? id : callId, name, args: objectIn(call, "args"), hint });
  }
  return checked(parts.every(({ isKagents }) => isKagents) ? "kagent" : "adk", asks);
}

// A reserved name would be misread by readers of the session.
function checked(form: PauseForm, asks: readonly ChildAsk[]): Rest {
  const bad = asks.find(({ name }) => name.length > LONGEST_NAME || isTaken(name));
  if (bad !== undefined) return unreadable(`it calls a tool "${bad.name.slice(0, LONGEST_NAME)}"`);
  if (!areDistinct(asks.map(({ id }) => id))) return unreadable("it asks twice under one id");
  // That form answers by call.
  if (form === "kagent" && !areDistinct(asks.map(({ callId }) => callId)))
    return unreadable("it asks twice about one call");
  return { state: "asks", form, asks };
}

function areDistinct(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}

function isTaken(name: string): boolean {
  return isReservedName(name) || name === MESSAGE_TOOL || name === ANSWER_TOOL;
}

function unreadable(why: string): Rest {
  return { state: "failed", message: `The task asks in a format that is not supported: ${why}` };
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value: JsonValue | undefined = member(object, name);
  return isJsonObject(value) ? value : {};
}

function textIn(object: JsonObject, name: string): string {
  const value = member(object, name);
  return typeof value === "string" ? value : "";
}
