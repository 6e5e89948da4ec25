import { isDeepStrictEqual } from "node:util";
import { type LocalServer, openServer, type Reply, type ServerRequest } from "./local-server.ts";

/** What the API does with one request: pieces of an answer, each some parts, or a reply as it is. */
export type GeminiPlay =
  | {
      readonly pieces: readonly (readonly object[])[];
      readonly finishReason?: string;
      readonly ending?: "end" | "break" | "wait";
      readonly rest?: object;
    }
  | { readonly reply: Reply };

export interface GeminiServer extends LocalServer {
  readonly play: (...plays: readonly GeminiPlay[]) => void;
}

const KINDS = ["text", "functionCall", "functionResponse", "inlineData", "fileData"];
const USAGE = { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 };

/**
 * The Gemini API's `generateContent` and `streamGenerateContent?alt=sse`, with the checks of the real one: as many
 * responses as calls, each signature back where it was given, no ids but its own, no members it does not know.
 */
export async function openGeminiServer(): Promise<GeminiServer> {
  const plays: GeminiPlay[] = [];
  const given: WirePart[] = [];
  const server = await openServer((request) => {
    const complaint = complaintAbout(request, given);
    if (complaint !== undefined) return failure(400, "INVALID_ARGUMENT", complaint);
    const play = plays.shift();
    if (play === undefined) return failure(500, "INTERNAL", "The test has no further play.");
    if ("reply" in play) return play.reply;
    given.push(...play.pieces.flat());
    return request.path.includes(":streamGenerateContent") ? streamed(play) : whole(play);
  });
  return { ...server, play: (...next) => void plays.push(...next) };
}

/** An error as Google's APIs write them. */
export function failure(
  code: number,
  status: string,
  message: string,
  rest: { readonly details?: readonly object[]; readonly headers?: { readonly [name: string]: string } } = {},
): Reply {
  const { details = [], headers = {} } = rest;
  return { status: code, headers, body: { error: { code, message, status, details } } };
}

type Answer = Extract<GeminiPlay, { pieces: unknown }>;

function whole({ pieces, finishReason = "STOP", rest }: Answer): Reply {
  const parts = pieces.flat();
  const content = parts.length > 0 ? { content: { role: "model", parts } } : {};
  return {
    status: 200,
    body: { candidates: [{ ...content, finishReason, index: 0 }], usageMetadata: USAGE, ...rest },
  };
}

function streamed({ pieces, finishReason = "STOP", ending = "end", rest }: Answer): Reply {
  const events = pieces.map((parts, index) => {
    const finish = index === pieces.length - 1 && ending === "end" ? { finishReason } : {};
    const content = parts.length > 0 ? { content: { role: "model", parts } } : {};
    return { candidates: [{ ...content, ...finish, index: 0 }], usageMetadata: USAGE, ...rest };
  });
  return { events: events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`), ending };
}

/** The wire's own shapes. */
interface WirePart {
  readonly functionCall?: { readonly id?: string; readonly name?: string };
  readonly functionResponse?: { readonly id?: string; readonly name?: string };
}
interface WireContent {
  readonly role?: string;
  readonly parts: readonly WirePart[];
}

function complaintAbout(
  { path, headers, body }: ServerRequest,
  given: readonly WirePart[],
): string | undefined {
  if (!/^\/v1beta\/models\/[\w.-]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(path)) {
    return `Unknown path ${path}.`;
  }
  if (headers["x-goog-api-key"] !== "test-key") return "API key not valid. Please pass a valid API key.";
  const { contents = [] } = body as { readonly contents?: readonly WireContent[] };
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  const complaints = contents.flatMap(({ parts }) => parts.map((part) => complaintAboutPart(part, given)));
  return (
    complaints.find((complaint) => complaint !== undefined) ??
    complaintAboutTurns(contents) ??
    complaintAboutSeals(contents, given)
  );
}

function complaintAboutPart(part: WirePart, given: readonly WirePart[]): string | undefined {
  const known = [...KINDS, "thought", "thoughtSignature", "partMetadata", ...given.flatMap(Object.keys)];
  const unknown = Object.keys(part).find((name) => !known.includes(name));
  if (unknown !== undefined)
    return `Invalid JSON payload received. Unknown name "${unknown}" at 'contents.parts'`;
  const id = (part.functionCall ?? part.functionResponse)?.id;
  const isGiven = id === undefined || given.some(({ functionCall }) => functionCall?.id === id);
  return isGiven ? undefined : `No function call has the id ${id}.`;
}

function complaintAboutTurns(contents: readonly WireContent[]): string | undefined {
  for (const [index, { parts }] of contents.entries()) {
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const next = contents[index + 1]?.parts ?? [];
    const responses = next.flatMap(({ functionResponse }) => functionResponse ?? []);
    if (calls.length !== responses.length) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    }
    const stray = calls.findIndex(
      ({ name, id }, at) => responses[at]?.name !== name || responses[at]?.id !== id,
    );
    if (stray >= 0) return `Function response ${stray + 1} does not belong to its call.`;
  }
  return undefined;
}

/** In a conversation that goes on, every part that was given with more than its kind must be there as it was. */
function complaintAboutSeals(
  contents: readonly WireContent[],
  given: readonly WirePart[],
): string | undefined {
  const back = contents.filter(({ role }) => role === "model").flatMap(({ parts }) => parts);
  if (back.length === 0) return undefined;
  const plain = ["text", "functionCall", "thought"];
  const sealed = given.filter((part) => Object.keys(part).some((name) => !plain.includes(name)));
  const missing = sealed.find((part) => !back.some((each) => isDeepStrictEqual(each, part)));
  return missing === undefined
    ? undefined
    : `A part is missing its thought_signature: ${JSON.stringify(missing)}`;
}
