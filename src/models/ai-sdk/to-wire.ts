import { type Content, isJsonArray, type JsonObject, type Part } from "../../protocol/index.ts";
import type { ModelRequest } from "../../runtime/index.ts";
import { modelFailed } from "../failure.ts";
import { nameCalls } from "./call-ids.ts";
import { type AiSdkModel, fieldsOf, type WireMessage, type WirePart } from "./language-model.ts";
import { metadataIn } from "./part-metadata.ts";

type Version = AiSdkModel["specificationVersion"];

/** Translates a request into the options of `doGenerate` and `doStream`. */
export function toWire(request: ModelRequest, version: Version): object {
  const tools = toTools(request);
  return {
    ...request.config,
    prompt: toPrompt(request, version),
    ...(tools.length > 0 && { tools }),
  };
}

function toTools({ tools, config = {} }: ModelRequest): unknown[] {
  const given = isJsonArray(config["tools"]) ? config["tools"] : [];
  const declared = tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    inputSchema: parameters ?? { type: "object", properties: {} },
  }));
  return [...given, ...declared];
}

function toPrompt({ instruction, contents }: ModelRequest, version: Version): WireMessage[] {
  const system: WireMessage[] = instruction === undefined ? [] : [{ role: "system", content: instruction }];
  const messages = nameCalls(contents).flatMap((content) => toMessages(content, version));
  return [...system, ...messages.filter(({ content }) => content.length > 0)];
}

/** Answers to calls come first: providers want them right after the calls. */
function toMessages({ role, parts }: Content, version: Version): WireMessage[] {
  if (role === "model") {
    return [{ role: "assistant", content: parts.flatMap((part) => toAssistantPart(part, version)) }];
  }
  return [
    { role: "tool", content: parts.flatMap(toResult) },
    { role: "user", content: parts.flatMap((part) => toSpoken(part, version)) },
  ];
}

function toAssistantPart(part: Part, version: Version): WirePart[] {
  const { providerMetadata, content } = metadataIn(part);
  if (content !== undefined) return [toProviderPart(content)];
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (part.functionCall !== undefined) {
    const { id, name, args } = part.functionCall;
    return [{ type: "tool-call", toolCallId: id, toolName: name, input: args, ...options }];
  }
  return toSpoken(part, version).map((spoken) => ({
    ...spoken,
    ...(part.thought === true && { type: spoken.type === "text" ? "reasoning" : "reasoning-file" }),
    ...options,
  }));
}

/** Parts of kinds that the AI SDK does not have are left out. */
function toSpoken(part: Part, version: Version): WirePart[] {
  if (part.functionResponse !== undefined) return [];
  if (typeof part.text === "string") return [{ type: "text", text: part.text }];
  const { mimeType, data, displayName } = fieldsOf(part["inlineData"]);
  const { fileUri, mimeType: fileType } = fieldsOf(part["fileData"]);
  const filename = typeof displayName === "string" ? { filename: displayName } : {};
  if (typeof data === "string") {
    const inline = version === "v4" ? { type: "data", data } : data;
    return [{ type: "file", mediaType: mimeType, data: inline, ...filename }];
  }
  if (typeof fileUri === "string") {
    const url = toUrl(fileUri);
    return [
      { type: "file", mediaType: fileType ?? "*/*", data: version === "v4" ? { type: "url", url } : url },
    ];
  }
  return [];
}

function toUrl(uri: string): URL {
  const url = URL.parse(uri);
  if (url !== null) return url;
  throw modelFailed(`The file ${JSON.stringify(uri)} has no URL that the model could read it from.`, {
    retryable: false,
  });
}

function toResult({ functionResponse }: Part): WirePart[] {
  if (functionResponse === undefined) return [];
  const { id, name, response } = functionResponse;
  return [{ type: "tool-result", toolCallId: id, toolName: name, output: toOutput(response) }];
}

/** An answer of nothing but `error` is a failure to the provider too. */
function toOutput(response: JsonObject): WirePart {
  const { error, ...rest } = response;
  if (error === undefined || Object.keys(rest).length > 0) return { type: "json", value: response };
  return typeof error === "string"
    ? { type: "error-text", value: error }
    : { type: "error-json", value: error };
}

/** A piece of an answer as it is said in a prompt: notes become options, arguments and results values. */
function toProviderPart({ providerMetadata, input, result, isError, ...rest }: JsonObject): WirePart {
  return {
    ...(rest as JsonObject & { type: string }),
    ...(typeof input === "string" && { input: JSON.parse(input) as unknown }),
    ...(result !== undefined && {
      output: { type: isError === true ? "error-json" : "json", value: result },
    }),
    ...(providerMetadata !== undefined && { providerOptions: providerMetadata }),
  };
}
