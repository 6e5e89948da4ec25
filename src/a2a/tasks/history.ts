import type { Message, Part } from "@a2a-js/sdk";
import {
  type ConfirmationAsk,
  type ConfirmationClosing,
  isJsonObject,
  type JsonObject,
  type Part as ModelPart,
  member,
  type StoredEvent,
  toHitlEnvelope,
} from "../../protocol/index.ts";
import { askedQuestions, isNested, readAnswers } from "../../runtime/index.ts";
import {
  dataPart,
  dataPartRequest,
  hitlRequest,
  isQuestion,
  type MessagePlace,
  pausesOf,
  textPart,
  toMessage,
} from "../messages/index.ts";

/** What one client is shown of a run, and in which form. */
export interface HistoryForm {
  readonly place: MessagePlace;
  /** The client opted in to the extension: no part of it is ADK-shaped. */
  readonly optedIn: boolean;
}

/**
 * Turns a run's events (already redacted) into messages. Knows all of the run's events, so that an answer can name its
 * question.
 */
export class RunHistory {
  readonly #form: HistoryForm;
  readonly #asks = new Map<string, { readonly ask: ConfirmationAsk; readonly alone: boolean }>();
  readonly #denied = new Set<string>();

  constructor(form: HistoryForm) {
    this.#form = form;
  }

  /** Registers events. */
  learn(events: readonly StoredEvent[]): void {
    for (const { asks = [], closings = [] } of events) {
      for (const ask of asks) this.#asks.set(ask.id, { ask, alone: asks.length === 1 });
      for (const { callId, confirmed, closedBy } of closings) {
        if (!confirmed && closedBy === undefined) this.#denied.add(callId);
      }
    }
  }

  /** The messages of an event; none if it is not for this client. `open`: shown as the task's status instead. */
  messages(event: StoredEvent, open: ReadonlySet<string> = new Set()): readonly Message[] {
    const { asks = [], closings = [] } = event;
    const told = asks.filter(({ id }) => !open.has(id));
    return [
      ...(isNested(event) ? [] : this.#words(event)),
      ...(told.length === 0 ? [] : this.#requests(told)),
      ...closings.map((closing) => this.#closing(event.id, closing)),
    ];
  }

  #words({ id, author, content }: StoredEvent): readonly Message[] {
    const parts = (content?.parts ?? []).flatMap((part) => this.#part(part));
    if (parts.length === 0) return [];
    return [toMessage(this.#form.place, { id, role: author === "user" ? "user" : "agent", parts })];
  }

  #requests(asks: readonly ConfirmationAsk[]): readonly Message[] {
    const { place, optedIn } = this.#form;
    if (!optedIn) return [dataPartRequest(place, asks)];
    return pausesOf(asks).map((pause) => hitlRequest(place, pause));
  }

  #part(part: ModelPart): readonly Part[] {
    const { text, thought, functionCall, functionResponse } = part;
    if (text !== undefined) return thought === true || text === "" ? [] : [textPart(text)];
    if (functionCall !== undefined || functionResponse !== undefined) return this.#toolPart(part);
    return filePart(part);
  }

  #toolPart({ functionCall, functionResponse }: ModelPart): readonly Part[] {
    if (this.#form.optedIn) return [];
    if (functionCall !== undefined) {
      const { id = "", name, args } = functionCall;
      return [dataPart({ id, name, args }, typed("function_call"))];
    }
    if (functionResponse === undefined) return [];
    const { id = "", name, response } = functionResponse;
    const rejection = this.#denied.has(id) ? REJECTION : {};
    return [dataPart({ id, name, response: { ...response, ...rejection } }, typed("function_response"))];
  }

  // The history shows every decision as if it came over A2A, even if it did not.
  #closing(eventId: string, closing: ConfirmationClosing): Message {
    const { place, optedIn } = this.#form;
    const { id, closedBy, confirmed, reason } = closing;
    const asked = this.#asks.get(id);
    const tool = asked?.ask.call.name ?? closing.callId;
    if (closedBy !== undefined) {
      const how = closedBy === "expiry" ? "expired" : "was withdrawn";
      const why = reason === undefined ? "" : `: ${reason}`;
      const parts = [textPart(`The question about ${tool} ${how}${why}.`)];
      return toMessage(place, { id: eventId, role: "agent", parts });
    }
    if (!optedIn) {
      const parts = [dataPart(decisionData(closing, asked?.alone ?? false), {})];
      return toMessage(place, { id: eventId, role: "user", parts });
    }
    const parts = [textPart(confirmed ? "Approved" : "Rejected")];
    return toMessage(place, {
      id: eventId,
      role: "user",
      parts,
      ...toHitlEnvelope(answerPayload(closing, asked?.ask)),
    });
  }
}

// kagent's interface recognises a rejected call by this text; the model got another.
const REJECTION: JsonObject = { status: "rejected", message: "Tool call was rejected by user." };

function typed(type: string): JsonObject {
  return { type, adk_type: type, kagent_type: type };
}

function decisionData({ callId, confirmed, reason }: ConfirmationClosing, alone: boolean): JsonObject {
  const word = confirmed ? "approve" : "reject";
  const why = confirmed ? undefined : reason;
  if (alone) return { decision_type: word, ...(why === undefined ? {} : { rejection_reason: why }) };
  return {
    decision_type: "batch",
    decisions: { [callId]: word },
    ...(why === undefined ? {} : { rejection_reasons: { [callId]: why } }),
  };
}

function answerPayload(closing: ConfirmationClosing, ask: ConfirmationAsk | undefined): JsonObject {
  const { id, confirmed, reason, payload } = closing;
  if (ask !== undefined && isQuestion(ask) && confirmed) {
    const answers = readAnswers(askedQuestions(ask.call.args), payload);
    return { type: "ask_user_response", id, answers: answers.map((answer) => ({ answer: [...answer] })) };
  }
  const why = reason === undefined || confirmed ? {} : { rejection_reason: reason };
  return { type: "tool_approval_response", approvals: [{ id, approved: confirmed, ...why }] };
}

function filePart({ inlineData, fileData }: ModelPart): readonly Part[] {
  const data = isJsonObject(inlineData) ? member(inlineData, "data") : undefined;
  if (isJsonObject(inlineData) && typeof data === "string") {
    const value = Buffer.from(data, "base64");
    return [{ content: { $case: "raw", value }, metadata: undefined, ...fileNames(inlineData) }];
  }
  const uri = isJsonObject(fileData) ? member(fileData, "fileUri") : undefined;
  if (!isJsonObject(fileData) || typeof uri !== "string") return [];
  return [{ content: { $case: "url", value: uri }, metadata: undefined, ...fileNames(fileData) }];
}

function fileNames(file: JsonObject): Pick<Part, "filename" | "mediaType"> {
  const [name, type] = [member(file, "displayName"), member(file, "mimeType")];
  return {
    filename: typeof name === "string" ? name : "",
    mediaType: typeof type === "string" ? type : "",
  };
}
