import type { GenerateContentConfig } from "@google/genai";
import { type Content, isJsonArray, type Part } from "../../protocol/index.ts";
import type { ModelRequest } from "../../runtime/index.ts";

/** A request as the Gemini API takes it. */
export interface GeminiRequest {
  readonly contents: readonly Content[];
  readonly config: GenerateContentConfig;
}

/** Ids of this shape are ours; Gemini must only see those it gave. */
const OWN_ID = /^adk-/;

/** Translates a request. Parts are handed on as they are: signatures, thoughts and whatever came with them. */
export function toWire(request: ModelRequest): GeminiRequest {
  const { instruction, config = {} } = request;
  const tools = toTools(request);
  return {
    contents: joinResponses(request.contents.filter(({ parts }) => parts.length > 0)).map(toContent),
    config: {
      ...(config as GenerateContentConfig),
      ...(instruction !== undefined && { systemInstruction: { parts: [{ text: instruction }] } }),
      ...(tools.length > 0 && { tools }),
      automaticFunctionCalling: { disable: true },
    },
  };
}

function toTools({ tools, config = {} }: ModelRequest): object[] {
  const given = isJsonArray(config["tools"]) ? (config["tools"] as readonly object[]) : [];
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  }));
  return functionDeclarations.length > 0 ? [...given, { functionDeclarations }] : [...given];
}

/** Gemini wants all answers to a turn in one content, and as many as it made calls. */
function joinResponses(contents: readonly Content[]): Content[] {
  const joined: Content[] = [];
  for (const content of contents) {
    const last = joined.at(-1);
    if (last !== undefined && isAllResponses(last) && isAllResponses(content)) {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...content.parts] };
    } else {
      joined.push(content);
    }
  }
  return joined;
}

function isAllResponses({ parts }: Content): boolean {
  return parts.every(({ functionResponse }) => functionResponse !== undefined);
}

function toContent({ role, parts }: Content): Content {
  return { role: role === "model" ? "model" : "user", parts: parts.map(toPart) };
}

function toPart(part: Part): Part {
  if (part.functionCall !== undefined) return { ...part, functionCall: withoutOwnId(part.functionCall) };
  if (part.functionResponse === undefined) return part;
  return { ...part, functionResponse: withoutOwnId(part.functionResponse) };
}

function withoutOwnId<T extends { readonly id?: string }>(value: T): T {
  if (value.id === undefined || !OWN_ID.test(value.id)) return value;
  const { id: _id, ...rest } = value;
  return rest as T;
}
