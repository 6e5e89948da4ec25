import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model says in one turn: its words, or the parts that they are streamed in, and the tools that it uses. */
export interface Turn {
  readonly text?: string | readonly string[];
  readonly tools?: readonly ToolUse[];
}

interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** A local server that speaks the streaming part of the Messages API, as far as Claude Code needs it. */
export interface ModelServer {
  readonly url: string;
  /** The results of tools that the model was given, in order. */
  readonly toolResults: readonly { readonly id: string; readonly isError: boolean; readonly text: string }[];
  close(): Promise<void>;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

interface Block {
  readonly type: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
}

/** Starts it. The model takes its turns in order: each request's history says how many it has taken. */
export async function startModel(turns: readonly Turn[]): Promise<ModelServer> {
  const toolResults = new Map<string, { id: string; isError: boolean; text: string }>();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (!request.url?.startsWith("/v1/messages") || request.url.includes("count_tokens")) {
      response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":1}');
      return;
    }
    const { messages, tools = [] } = JSON.parse(text) as { messages: Message[]; tools?: unknown[] };
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    for (const { type, tool_use_id: id = "", is_error: isError = false, content } of blocks)
      if (type === "tool_result") toolResults.set(id, { id, isError, text: JSON.stringify(content) });
    const taken = messages.filter(({ role, content }) => role === "assistant" && isToolUse(content)).length;
    // Requests without tools are Claude Code's own, for a title and the like.
    const turn = tools.length === 0 ? { text: "ok" } : (turns[taken] ?? { text: "done" });
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf(turn)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get toolResults() {
      return [...toolResults.values()];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isToolUse(content: Message["content"]): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "tool_use");
}

function eventsOf({
  text = [],
  tools = [],
}: Turn): readonly { readonly type: string; readonly [member: string]: unknown }[] {
  const words = typeof text === "string" ? [text] : text;
  const said = {
    start: { type: "text", text: "" },
    deltas: words.map((part): object => ({ type: "text_delta", text: part })),
  };
  const uses = tools.map(({ id, name, input }) => ({
    start: { type: "tool_use", id, name, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
  }));
  const blocks = [...(words.length > 0 ? [said] : []), ...uses];
  return [
    {
      type: "message_start",
      message: {
        id: "msg_local",
        type: "message",
        role: "assistant",
        model: "claude-local",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: tools.length === 0 ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
}
