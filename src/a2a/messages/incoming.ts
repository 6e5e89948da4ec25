import { type Message, type Part, Role } from "@a2a-js/sdk";
import {
  type Content,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part as ModelPart,
  member,
  REQUEST_CONFIRMATION_FUNCTION_NAME,
  readHitlPayload,
  toJsonValue,
} from "../../protocol/index.ts";
import { refused } from "./errors.ts";

/** A client's message: text for the agent, or an answer in one of its forms. Text is never an answer. */
export type Incoming =
  | { readonly kind: "words"; readonly content: Content }
  /** The extension's payload. */
  | { readonly kind: "hitl"; readonly payload: JsonObject }
  /** `{decision_type}`, the older form. */
  | { readonly kind: "decision-data"; readonly data: JsonObject }
  /** Function responses to confirmation requests, as ADK clients write them. */
  | { readonly kind: "adk"; readonly parts: readonly ModelPart[] };

/** Parses a message. Throws if it is neither clearly text nor clearly one answer: then nothing of it is accepted. */
export function readIncoming(message: Message, optedIn: boolean): Incoming {
  if (message.role !== Role.ROLE_USER) throw malformed("The message's role must be user.");
  const payload = hitlPayload(message, optedIn);
  const data = message.parts.flatMap(dataOf);
  const decisions = data.filter(({ value }) => isJsonObject(value) && Object.hasOwn(value, "decision_type"));
  const responses = data.filter(isConfirmationResponse);
  const forms = [payload === undefined ? [] : [payload], decisions, responses].filter(
    ({ length }) => length > 0,
  );
  if (forms.length > 1 || decisions.length > 1) throw undecided("The message answers more than once.");
  if (payload !== undefined) return { kind: "hitl", payload };
  if (optedIn && forms.length > 0) {
    throw undecided("A client that uses the extension must answer with its payload, not with data parts.");
  }
  const [decision] = decisions;
  if (isJsonObject(decision?.value)) return { kind: "decision-data", data: decision.value };
  if (responses.length > 0) {
    return {
      kind: "adk",
      parts: responses.map(({ value }) => ({ functionResponse: value }) as unknown as ModelPart),
    };
  }
  return { kind: "words", content: toContent(message) };
}

function hitlPayload(message: Message, optedIn: boolean): JsonObject | undefined {
  const { extensions, metadata = {} } = message;
  const read = readHitlPayload({ extensions, metadata });
  if (!read.ok) throw refused(read.code, read.message);
  if (read.value !== undefined && !optedIn) {
    throw undecided(
      "A request with an answer in the extension's format must name the extension in its header.",
    );
  }
  return read.value;
}

interface Data {
  readonly value: JsonValue;
  readonly type: unknown;
}

function dataOf({ content, metadata }: Part): readonly Data[] {
  if (content?.$case !== "data") return [];
  const checked = toJsonValue(content.value ?? null);
  if (!checked.ok) throw malformed(`A data part is not JSON: ${checked.message}`);
  const named: JsonObject = isJsonObject(metadata) ? metadata : {};
  const type = ["adk_type", "kagent_type", "type"]
    .map((name) => member(named, name))
    .find((one) => one !== undefined);
  return [{ value: checked.value, type }];
}

function isConfirmationResponse({ value, type }: Data): boolean {
  if (type !== "function_response" || !isJsonObject(value)) return false;
  return member(value, "name") === REQUEST_CONFIRMATION_FUNCTION_NAME;
}

function toContent(message: Message): Content {
  const parts = message.parts.map(toModelPart);
  if (parts.length === 0) throw malformed("The message has no parts.");
  return { role: "user", parts };
}

function toModelPart(part: Part): ModelPart {
  const { content, filename, mediaType } = part;
  const name = filename === "" ? {} : { displayName: filename };
  switch (content?.$case) {
    case "text":
      if (typeof (content.value as unknown) !== "string")
        throw malformed("The text of a part must be a string.");
      return { text: content.value };
    case "raw":
      return {
        inlineData: { mimeType: mediaType, data: Buffer.from(content.value).toString("base64"), ...name },
      };
    case "url":
      return { fileData: { mimeType: mediaType, fileUri: content.value, ...name } };
    case "data":
      return { text: plainData(part) };
    default:
      throw malformed("A part has neither text, data, bytes nor a URL.");
  }
}

// Only tools answer calls, and only models make them: such parts must not be taken for text.
function plainData(part: Part): string {
  const [data] = dataOf(part);
  const isTool = data?.type === "function_call" || data?.type === "function_response";
  if (isTool) throw refused("forged-result", "A message cannot call a tool or answer a call.");
  const name = isJsonObject(data?.value) ? member(data.value, "name") : undefined;
  if (name === REQUEST_CONFIRMATION_FUNCTION_NAME)
    throw undecided("The data part answers nothing: it has no type.");
  return JSON.stringify(data?.value ?? null);
}

function malformed(message: string): Error {
  return refused("malformed-request", message);
}

function undecided(message: string): Error {
  return refused("malformed-decision", message);
}
