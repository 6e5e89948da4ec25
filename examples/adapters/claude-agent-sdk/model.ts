// A model on this machine: it speaks as much of the Messages API as Claude Code needs.
import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Body {
  readonly messages: readonly { readonly content: string | readonly Block[] }[];
  readonly tools?: readonly unknown[];
}

interface Block {
  readonly type: string;
  readonly content?: unknown;
}

/** Wants to use the tool once, and then says what came of it. */
export async function startModel(use: { readonly name: string; readonly input: object }): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url?.includes("count_tokens") !== false) {
      response.end('{"input_tokens":1}');
      return;
    }
    const { messages, tools = [] } = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    const result = blocks.find(({ type }) => type === "tool_result");
    if (result !== undefined) return say(response, `The tool said: ${JSON.stringify(result.content)}`);
    // Requests without tools are Claude Code's own, for a title and the like.
    if (tools.length === 0) return say(response, "ok");
    const start = { type: "tool_use", id: `toolu_${randomUUID()}`, name: use.name, input: {} };
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(use.input) };
    stream(response, { start, delta, reason: "tool_use" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function say(response: ServerResponse, text: string): void {
  stream(response, {
    start: { type: "text", text: "" },
    delta: { type: "text_delta", text },
    reason: "end_turn",
  });
}

function stream(
  response: ServerResponse,
  { start, delta, reason }: { readonly start: object; readonly delta: object; readonly reason: string },
): void {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "local", content: [], usage };
  const events = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
