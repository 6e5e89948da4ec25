import type { ConfirmationAsk, JsonObject, JsonValue, Part } from "../protocol/index.ts";
import type { ConfirmationRequest } from "./provider.ts";
import { spokenText } from "./turn.ts";
import type { RunEvent } from "./watch-run.ts";

/** What happens in a run, as a program shows it. */
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

/** Turns a run's events into the pieces a program shows. Text that came in pieces is not repeated whole. */
export async function* toStream(events: AsyncIterable<RunEvent>): AsyncGenerator<StreamEvent> {
  let said = "";
  let inPieces = "";
  for await (const watched of events) {
    if (watched.kind === "progress") {
      yield {
        type: "tool-progress",
        toolCallId: watched.callId,
        toolName: watched.tool,
        update: watched.update,
      };
      continue;
    }
    const { event } = watched;
    const text = spokenText(event.content?.parts ?? []);
    if (watched.kind === "partial") {
      inPieces += text;
      if (text !== "") yield { type: "content-delta", content: text, agent: event.author };
      continue;
    }
    if (event.author !== "user" && event.content?.role === "model") {
      if (text !== "" && inPieces === "") yield { type: "content-delta", content: text, agent: event.author };
      said += text;
      inPieces = "";
    }
    yield* pieces(event);
  }
  yield { type: "complete", content: said };
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
