import { type JsonObject, type JsonValue, member } from "../../json.ts";
import { type Parsed, parsed, unreadable } from "../../parsed.ts";

/** The members of one wire type that have two spellings: snake_case → camelCase. */
export type Spellings = ReadonlyMap<string, string>;

type WireType = "part" | "blob" | "fileData" | "functionCall" | "functionResponse" | "event" | "eventActions";

/**
 * The spellings of each wire type whose members are known. Keys inside args, responses, state, payloads and
 * metadata are data and have none.
 */
export const SPELLINGS: { readonly [Type in WireType]: Spellings } = {
  part: spellings(`functionCall functionResponse thoughtSignature inlineData fileData videoMetadata
    executableCode codeExecutionResult mediaResolution`),
  blob: spellings("mimeType displayName"),
  fileData: spellings("fileUri mimeType displayName"),
  functionCall: spellings("willContinue partialArgs"),
  functionResponse: spellings("willContinue"),
  event: spellings(`invocationId longRunningToolIds turnComplete errorCode errorMessage finishReason
    usageMetadata groundingMetadata citationMetadata customMetadata cacheMetadata modelVersion avgLogprobs
    logprobsResult inputTranscription outputTranscription liveSessionResumptionUpdate interactionId`),
  eventActions: spellings(`stateDelta artifactDelta requestedAuthConfigs requestedToolConfirmations
    skipSummarization transferToAgent endOfAgent agentState rewindBeforeInvocationId`),
};

/**
 * The object with its known members in camelCase; other members, and everything inside a member, stay as they
 * are. Refuses a member given in both spellings, because two readers would each see another value.
 */
export function inCamelCase(object: JsonObject, known: Spellings, path: string): Parsed<JsonObject> {
  const keys = Object.keys(object);
  if (!keys.some((key) => known.has(key))) return parsed(object);
  const members: [string, JsonValue][] = [];
  for (const key of keys) {
    const camel = known.get(key);
    if (camel !== undefined && Object.hasOwn(object, camel)) {
      return unreadable(path, `has both \`${camel}\` and \`${key}\``);
    }
    members.push([camel ?? key, member(object, key) as JsonValue]);
  }
  return parsed(Object.fromEntries(members));
}

function spellings(names: string): Spellings {
  return new Map(names.split(/\s+/).map((name) => [inSnakeCase(name), name]));
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
