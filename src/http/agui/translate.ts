import { type Event, isReservedName, type Part, type StoredEvent } from "../../protocol/index.ts";
import type { AguiEvent, AguiMessage, AguiToolCall } from "./events.ts";

/** An event of a run that says that something went wrong. */
export type FailedEvent = Event & { readonly errorCode: string };

/**
 * Turns a run's events into AG-UI's. Text that comes in pieces is one message. The ids of messages are not those of
 * {@link toMessages}: clients put a snapshot's new messages behind the ones whose ids they know, so a snapshot would
 * change the order if they knew only some of them.
 */
export class Translation {
  /** The open message of each speaker: agents that work side by side speak at the same time. */
  readonly #open = new Map<string, string>();
  readonly #failed: FailedEvent[] = [];

  /** Refused answers and failures of the run. */
  get failed(): readonly FailedEvent[] {
    return this.#failed;
  }

  *of(event: Event): Generator<AguiEvent> {
    const { errorCode } = event;
    if (errorCode !== undefined) this.#failed.push({ ...event, errorCode });
    const speaker = `${event.author} ${event.branch ?? ""}`;
    const messageId = this.#open.get(speaker) ?? `live-${event.id}`;
    yield* this.#speak(event, { speaker, messageId });
    if (event.partial === true) return;
    for (const part of event.content?.parts ?? []) yield* toolEvents(part, messageId);
  }

  /** Ends what is open; a piece's whole may never come, if the model failed. */
  *end(): Generator<AguiEvent> {
    for (const messageId of this.#open.values()) yield { type: "TEXT_MESSAGE_END", messageId };
    this.#open.clear();
  }

  *#speak(
    event: Event,
    { speaker, messageId }: { readonly speaker: string; readonly messageId: string },
  ): Generator<AguiEvent> {
    const delta = event.content?.role === "model" ? spoken(event.content.parts) : "";
    const isOpen = this.#open.has(speaker);
    const isPartial = event.partial === true;
    if (delta !== "" && !isOpen) {
      yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant", name: event.author };
    }
    // The whole repeats its pieces.
    if (delta !== "" && (isPartial || !isOpen)) yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
    if (isPartial) {
      if (delta !== "") this.#open.set(speaker, messageId);
    } else if (isOpen || delta !== "") {
      this.#open.delete(speaker);
      yield { type: "TEXT_MESSAGE_END", messageId };
    }
  }
}

type Told = Pick<StoredEvent, "id" | "author" | "content" | "imported">;

/**
 * A session's conversation as AG-UI's clients know it. Their messages have no mark for what was imported, so the text
 * says it, and imported calls and results are left out.
 */
export function toMessages(events: readonly Told[]): AguiMessage[] {
  return events.flatMap(({ id, author, content, imported }) => {
    const all = content?.parts ?? [];
    const parts = imported === undefined ? all : all.flatMap(onlyText);
    const text = withMark(spoken(parts), imported);
    if (author === "user") return text === "" ? [] : [{ id, role: "user" as const, content: text }];
    const toolCalls = parts.flatMap(toToolCall);
    const said: AguiMessage = {
      id,
      role: "assistant",
      name: author,
      ...(text === "" ? {} : { content: text }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
    return [...(text === "" && toolCalls.length === 0 ? [] : [said]), ...toResults(id, parts)];
  });
}

function onlyText({ text, thought }: Part): Part[] {
  return text === undefined ? [] : [{ text, ...(thought === undefined ? {} : { thought }) }];
}

function withMark(text: string, imported: Told["imported"]): string {
  return text === "" || imported === undefined ? text : `[imported by ${imported.by}] ${text}`;
}

function toResults(id: string, parts: readonly Part[]): AguiMessage[] {
  return parts.flatMap(({ functionResponse }) => {
    if (functionResponse === undefined || isReservedName(functionResponse.name)) return [];
    const { id: toolCallId = "", response } = functionResponse;
    return [
      { id: `${id}.${toolCallId}`, role: "tool" as const, toolCallId, content: JSON.stringify(response) },
    ];
  });
}

function* toolEvents(part: Part, parentMessageId: string): Generator<AguiEvent> {
  for (const { id: toolCallId, function: called } of toToolCall(part)) {
    yield { type: "TOOL_CALL_START", toolCallId, toolCallName: called.name, parentMessageId };
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta: called.arguments };
    yield { type: "TOOL_CALL_END", toolCallId };
  }
  for (const message of toResults(parentMessageId, [part])) {
    if (message.role !== "tool") continue;
    const { id: messageId, toolCallId, content } = message;
    yield { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" };
  }
}

// Questions are interrupts, not calls.
function toToolCall({ functionCall }: Part): AguiToolCall[] {
  if (functionCall === undefined || isReservedName(functionCall.name)) return [];
  const { id = "", name, args } = functionCall;
  return [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }];
}

function spoken(parts: readonly Part[]): string {
  return parts.map(({ text = "", thought }) => (thought === true ? "" : text)).join("");
}
