import { isJsonObject, type JsonObject, type Part, parseJson } from "../../protocol/index.ts";
import type { ModelChunk } from "../../runtime/index.ts";
import { fieldsOf, type WireAnswer, type WirePart } from "./language-model.ts";
import { partMetadata } from "./part-metadata.ts";
import { toUsage } from "./usage.ts";

/** Why a model stopped. Before v3 it was one word. */
interface Finish {
  readonly unified: string;
  readonly raw: string | undefined;
}

interface Fault {
  readonly code: string;
  readonly message: string;
}

/** The finish reasons as ADK events name them; all others are `OTHER`. */
const FINISH_REASONS: { readonly [unified: string]: string } = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
};

/** Finish reasons that make an answer invalid. */
const FAULTS: ReadonlySet<string> = new Set(["content-filter", "error", "interrupted"]);

/**
 * The whole answer. An answer that ended in an error, or has a call whose arguments are not a JSON object, has no
 * parts: no call may run on a guess, and the model can be asked again.
 */
export function toChunk({ content, finishReason, usage }: WireAnswer): ModelChunk {
  const finish = readFinish(finishReason);
  const usageMetadata = toUsage(usage);
  const ending = {
    finishReason: FINISH_REASONS[finish.unified] ?? "OTHER",
    ...(usageMetadata !== undefined && { usageMetadata }),
  };
  const fault = faultOf(content, finish);
  if (fault !== undefined) {
    return { parts: [], ...ending, errorCode: fault.code, errorMessage: fault.message };
  }
  return { parts: content.flatMap(toParts), ...ending };
}

/** What `doGenerate` returned. */
export function readAnswer(result: { readonly [member: string]: unknown }): WireAnswer {
  const { content, finishReason, usage } = result;
  return { content: Array.isArray(content) ? (content as WirePart[]) : [], finishReason, usage };
}

/** Why a model stopped, in the form that v3 gave it. */
export function readFinish(finishReason: unknown): Finish {
  if (typeof finishReason === "string") return { unified: finishReason, raw: undefined };
  const { unified, raw } = fieldsOf(finishReason);
  return {
    unified: typeof unified === "string" ? unified : "unknown",
    raw: typeof raw === "string" ? raw : undefined,
  };
}

/** Reads arguments; a provider may say nothing where there are none. */
function readArguments(input: unknown): JsonObject | undefined {
  if (isJsonObject(input)) return input;
  if (typeof input !== "string") return undefined;
  if (input.trim() === "") return {};
  const json = parseJson(input);
  return json.ok && isJsonObject(json.value) ? json.value : undefined;
}

function faultOf(content: readonly WirePart[], { unified, raw }: Finish): Fault | undefined {
  if (FAULTS.has(unified)) {
    const code = FINISH_REASONS[unified] ?? "OTHER";
    return { code, message: `The model stopped without an answer (${raw ?? unified}).` };
  }
  if (content.some(({ type }) => type === "tool-approval-request")) {
    const message =
      "The provider asks for approval of a tool that it runs itself. Only the agent's own tools can be approved.";
    return { code: "UNEXPECTED_TOOL_CALL", message };
  }
  const malformed = content.find((part) => isOwnCall(part) && readArguments(part["input"]) === undefined);
  if (malformed !== undefined) {
    const message = `The model called ${String(malformed["toolName"])} with arguments that are not a JSON object.`;
    return { code: "MALFORMED_FUNCTION_CALL", message };
  }
  if (unified === "length" && content.length === 0) {
    return { code: "MAX_TOKENS", message: "The model reached its token limit before it gave an answer." };
  }
  return undefined;
}

function isOwnCall(part: WirePart): boolean {
  return part.type === "tool-call" && part["providerExecuted"] !== true;
}

function toParts(piece: WirePart): Part[] {
  const { type, text, providerMetadata } = piece;
  const kept = partMetadata({ providerMetadata });
  switch (type) {
    case "text":
      return text === "" && kept["partMetadata"] === undefined ? [] : [{ text: String(text), ...kept }];
    case "reasoning":
      return [{ text: String(text), thought: true, ...kept }];
    case "tool-call":
      return isOwnCall(piece)
        ? [{ functionCall: toCall(piece), ...kept }]
        : [partMetadata({ content: piece })];
    case "file":
      return [{ ...toFile(piece), ...kept }];
    case "reasoning-file":
      return [{ ...toFile(piece), thought: true, ...kept }];
    case "tool-result":
      return piece["preliminary"] === true ? [] : [partMetadata({ content: piece })];
    case "custom":
      return [partMetadata({ content: piece })];
    default:
      return [];
  }
}

function toCall({ toolCallId, toolName, input }: WirePart): NonNullable<Part["functionCall"]> {
  return { id: String(toolCallId), name: String(toolName), args: readArguments(input) ?? {} };
}

function toFile({ mediaType, data }: WirePart): Part {
  const { url, data: inner } = fieldsOf(data);
  if (url instanceof URL) return { fileData: { fileUri: url.href, mimeType: mediaType } };
  const bytes = inner ?? data;
  const base64 = bytes instanceof Uint8Array ? Buffer.from(bytes).toString("base64") : String(bytes);
  return { inlineData: { mimeType: mediaType, data: base64 } };
}
