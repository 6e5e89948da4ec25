import type { CallerOutcome } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { Pressed } from "../thread-gate.ts";

type Answer = "approve" | "edit" | "reject";

/**
 * What a paused graph shows of a call, in the shapes of LangChain's human-in-the-loop middleware (`actionRequests`) and
 * of Agent Inbox (`action_request`), so that their front ends can show it.
 */
export interface Pause {
  readonly countersign: {
    /** Names the call in its thread. */
    readonly call: string;
    /** The question, as the inbox knows it. An answer must name it. */
    readonly confirmation?: string;
  };
  readonly actionRequests: readonly [
    { readonly name: string; readonly args: JsonObject; readonly description: string },
  ];
  readonly reviewConfigs: readonly [
    { readonly actionName: string; readonly allowedDecisions: readonly Answer[] },
  ];
  readonly action_request: { readonly action: string; readonly args: JsonObject };
  readonly config: {
    readonly allow_accept: boolean;
    readonly allow_edit: boolean;
    readonly allow_respond: boolean;
    readonly allow_ignore: boolean;
  };
  readonly description: string;
}

/** An interrupt of a graph that is about a gated call. */
export interface OpenPause {
  /** The framework's id of the interrupt. */
  readonly id: string;
  readonly call: string;
}

/** The pause of a call that waits. Nobody can answer here what a person must settle. */
export function pauseOf(
  outcome: CallerOutcome,
  at: { readonly call: string; readonly secret: boolean },
): Pause {
  const { status, tool: name, args, confirmation, message } = outcome;
  const asked = status === "pending";
  const editable = asked && confirmation?.amendable !== undefined && !at.secret;
  const description = asked ? (confirmation?.hint ?? message) : message;
  const allowed: readonly Answer[] = editable ? ["approve", "edit", "reject"] : ["approve", "reject"];
  return {
    countersign: {
      call: at.call,
      ...(confirmation === undefined ? {} : { confirmation: confirmation.id }),
    },
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: asked ? allowed : [] }],
    action_request: { action: name, args },
    config: { allow_accept: asked, allow_edit: editable, allow_respond: asked, allow_ignore: false },
    description,
  };
}

interface Task {
  readonly interrupts?: readonly { readonly id?: string; readonly value?: unknown }[];
}

/** The interrupts of a graph's state that are about gated calls. */
export function openPauses(tasks: readonly Task[]): readonly OpenPause[] {
  const interrupts = tasks.flatMap((task) => task.interrupts ?? []);
  return interrupts.flatMap(({ id, value }) => {
    const pause = value as Partial<Pause> | null | undefined;
    const call = pause?.countersign?.call;
    return typeof id === "string" && typeof call === "string" ? [{ id, call }] : [];
  });
}

/** What a question showed. */
interface Shown {
  readonly tool: string;
  readonly args: JsonObject;
}

/**
 * What a front end sent for a question: `{ decisions: [...] }` as for LangChain's middleware, or an answer of Agent Inbox,
 * alone or in a list; undefined if it is none of them.
 */
export function readPressed(sent: JsonValue | undefined, shown: Shown): Pressed | undefined {
  const given = isJsonObject(sent) && Array.isArray(sent["decisions"]) ? sent["decisions"] : sent;
  const answers: readonly unknown[] = Array.isArray(given) ? given : [given];
  const [answer] = answers;
  if (!isJsonObject(answer) || answers.length > 1) return undefined;
  switch (answer["type"]) {
    case "approve":
    case "accept":
      return { approved: true };
    case "reject":
      return { approved: false, ...reasonOf(answer["message"]) };
    case "response":
      return { approved: false, ...reasonOf(answer["args"]) };
    case "edit": {
      const { editedAction, args } = answer;
      return editedAction === undefined ? edited(args, shown, asShown) : edited(editedAction, shown);
    }
    default:
      return undefined;
  }
}

function reasonOf(text: JsonValue | undefined): { readonly reason?: string } {
  return typeof text === "string" && text !== "" ? { reason: text } : {};
}

/** A call of another tool is another call, which nobody was asked about. */
function edited(
  action: JsonValue | undefined,
  shown: Shown,
  read: (args: JsonObject, shown: JsonObject) => JsonObject = (args) => args,
): Pressed | undefined {
  if (!isJsonObject(action) || !isJsonObject(action["args"])) return undefined;
  if ((action["name"] ?? action["action"]) !== shown.tool) return undefined;
  return { approved: true, args: read(action["args"], shown.args) };
}

/** Agent Inbox has fields for text only. What it showed as JSON, because it is no text, comes back as such. */
function asShown(args: JsonObject, shown: JsonObject): JsonObject {
  const members = Object.entries(args).map(([name, value]) => {
    const before = member(shown, name);
    const isText = before === undefined || typeof before === "string" || typeof value !== "string";
    return [name, isText ? value : parsed(value)] as const;
  });
  return Object.fromEntries(members);
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The tool's schema says what is wrong with it.
    return text;
  }
}
