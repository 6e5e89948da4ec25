import type { ConfirmationAsk, JsonObject, JsonValue, Part } from "../../protocol/index.ts";
import type { ConfirmationRequest } from "../agents/index.ts";
import { isNested, spokenText } from "../history/index.ts";
import type { RunEvent } from "./watch-run.ts";

/** What happens in a run, for user interfaces. */
export type StreamEvent =
  | { readonly type: "content-delta"; readonly content: string; readonly agent: string }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: JsonObject;
      readonly agent: string;
    }
  | {
      readonly type: "confirmation-required";
      readonly confirmationId: string;
      readonly confirmationRequest: ConfirmationRequest;
      readonly agent: string;
    }
  | {
      readonly type: "tool-progress";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly update: JsonValue;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: JsonObject;
    }
  | { readonly type: "error"; readonly code: string; readonly message: string }
  | { readonly type: "complete"; readonly content: string };

/** Turns a run's events into pieces for user interfaces. Text that came in pieces is not repeated as a whole. */
export async function* toStream(events: AsyncIterable<RunEvent>): AsyncGenerator<StreamEvent> {
  const said: string[] = [];
  const inPieces = new Set<string>();
  for await (const watched of events) {
    if (watched.kind === "progress") {
      const { callId: toolCallId, tool: toolName, update } = watched;
      yield { type: "tool-progress", toolCallId, toolName, update };
      continue;
    }
    const { event } = watched;
    const content = event.content?.role === "model" ? spokenText(event.content.parts) : "";
    const told = content === "" || toldInPieces(inPieces, watched);
    if (!told) yield { type: "content-delta", content, agent: event.author };
    if (watched.kind === "partial") continue;
    if (content !== "" && !isNested(event)) said.push(content);
    yield* pieces(event);
  }
  yield { type: "complete", content: said.join("\n") };
}

/** Was this text already sent in pieces? */
function toldInPieces(
  speakers: Set<string>,
  { kind, event }: Exclude<RunEvent, { kind: "progress" }>,
): boolean {
  const speaker = `${event.author} ${event.branch ?? ""}`;
  if (kind !== "partial") return speakers.delete(speaker);
  speakers.add(speaker);
  return false;
}

type Stored = Extract<RunEvent, { kind: "stored" }>["event"];

function* pieces(event: Stored): Generator<StreamEvent> {
  for (const part of event.content?.parts ?? []) yield* toolPieces(part, event.author);
  for (const ask of event.asks ?? []) yield askPiece(ask, event.author);
  const { errorCode, errorMessage = "" } = event;
  if (errorCode !== undefined) yield { type: "error", code: errorCode, message: errorMessage };
}

function* toolPieces({ functionCall, functionResponse }: Part, agent: string): Generator<StreamEvent> {
  if (functionCall !== undefined) {
    const { id = "", name, args } = functionCall;
    yield { type: "tool-call", toolCallId: id, toolName: name, args, agent };
  }
  if (functionResponse !== undefined) {
    const { id = "", name, response } = functionResponse;
    yield { type: "tool-result", toolCallId: id, toolName: name, result: response };
  }
}

function askPiece(ask: ConfirmationAsk, agent: string): StreamEvent {
  const own = ask.askedByTool === true;
  return {
    type: "confirmation-required",
    confirmationId: ask.id,
    agent,
    confirmationRequest: {
      toolCallId: ask.call.id,
      toolName: ask.call.name,
      input: JSON.stringify(ask.call.args),
      hint: own ? ask.hint : "",
      ...(own && ask.payload !== undefined ? { payload: ask.payload } : {}),
    },
  };
}
