import { type LocalServer, openServer, type Reply, type ServerRequest } from "./local-server.ts";
import { answerChat, complaintAboutChat } from "./openai-chat.ts";
import { answerResponse, complaintAboutResponse } from "./openai-responses.ts";

export interface OpenAiCall {
  readonly id: string;
  readonly name: string;
  /** The text that should be JSON. */
  readonly arguments: string;
}

/** An answer, in the terms that both of OpenAI's wires can say. */
export interface OpenAiAnswer {
  readonly text?: readonly string[];
  readonly calls?: readonly OpenAiCall[];
  /** With a reasoning item that only OpenAI can read; the chat wire has none. */
  readonly sealed?: boolean;
  readonly finishReason?: "stop" | "tool_calls" | "length" | "content_filter";
  readonly ending?: "end" | "break" | "wait";
  /** What a stream says instead of its end. */
  readonly lastEvent?: object;
}

export type OpenAiPlay = OpenAiAnswer | { readonly reply: Reply };

export interface OpenAiServer extends LocalServer {
  readonly play: (...plays: readonly OpenAiPlay[]) => void;
}

/**
 * OpenAI's `/chat/completions` and `/responses`, streaming and not, with the checks of the real ones: every tool call
 * is followed by its result, every result has its call, and reasoning comes back as it was, before its call.
 */
export async function openOpenAiServer(): Promise<OpenAiServer> {
  const plays: OpenAiPlay[] = [];
  const given: OpenAiAnswer[] = [];
  const server = await openServer((request) => {
    const complaint = complaintAbout(request, given);
    if (complaint !== undefined) return failure(400, complaint);
    const play = plays.shift();
    if (play === undefined) return failure(500, "The test has no further play.");
    if ("reply" in play) return play.reply;
    given.push(play);
    const { stream = false } = request.body as { readonly stream?: boolean };
    return isChat(request) ? answerChat(play, stream) : answerResponse(play, stream);
  });
  return { ...server, play: (...next) => void plays.push(...next) };
}

/** An error as OpenAI writes them. */
export function failure(
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): Reply {
  return { status, headers, body: { error: { message, type: "error", param: null, code: null } } };
}

function complaintAbout(request: ServerRequest, given: readonly OpenAiAnswer[]): string | undefined {
  if (request.headers["authorization"] !== "Bearer test-key") return "Incorrect API key provided.";
  if (isChat(request)) return complaintAboutChat(request.body);
  return request.path === "/responses"
    ? complaintAboutResponse(request.body, given)
    : `Unknown path ${request.path}.`;
}

function isChat({ path }: ServerRequest): boolean {
  return path === "/chat/completions";
}
