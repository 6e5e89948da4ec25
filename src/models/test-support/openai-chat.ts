import type { Reply } from "./local-server.ts";
import type { OpenAiAnswer } from "./openai-server.ts";

const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "gpt-test" };
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
}

/** The answer as a chat completion, or as the chunks of one. */
export function answerChat(answer: OpenAiAnswer, stream: boolean): Reply {
  return stream ? streamed(answer) : whole(answer);
}

/** What OpenAI would say of these messages, if anything. */
export function complaintAboutChat(body: unknown): string | undefined {
  const { messages = [] } = body as { readonly messages?: readonly ChatMessage[] };
  let open: string[] = [];
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === "tool") {
      if (id === undefined || !open.includes(id)) {
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      }
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) break;
    open = calls.map((call) => call.id);
    for (const call of calls) JSON.parse(call.function.arguments);
  }
  return open.length === 0
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`;
}

function finishOf({ calls = [], finishReason }: OpenAiAnswer): string {
  return finishReason ?? (calls.length > 0 ? "tool_calls" : "stop");
}

function whole(answer: OpenAiAnswer): Reply {
  const { text, calls = [] } = answer;
  const message = {
    role: "assistant",
    content: text?.join("") ?? null,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, ...call }) => ({ id, type: "function", function: call })),
    }),
  };
  const choice = { index: 0, message, finish_reason: finishOf(answer) };
  return { status: 200, body: { ...HEAD, object: "chat.completion", choices: [choice], usage: USAGE } };
}

function streamed(answer: OpenAiAnswer): Reply {
  const { text = [], calls = [], ending = "end", lastEvent } = answer;
  const deltas: object[] = [
    { role: "assistant", content: calls.length > 0 && text.length === 0 ? null : "" },
    ...text.map((content) => ({ content })),
    ...calls.flatMap(({ id, name, arguments: json }, index) => [
      { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
      ...inPieces(json).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
  const chunks = deltas.map((delta) => chunk({ index: 0, delta, finish_reason: null }));
  const finish = chunk({ index: 0, delta: {}, finish_reason: finishOf(answer) });
  const last = lastEvent === undefined ? [finish, { ...HEAD, choices: [], usage: USAGE }] : [lastEvent];
  const events = [...chunks, ...(ending === "end" ? last : [])].map(
    (event) => `data: ${JSON.stringify(event)}\n\n`,
  );
  return { events: ending === "end" ? [...events, "data: [DONE]\n\n"] : events, ending };
}

function chunk(choice: object): object {
  return { ...HEAD, object: "chat.completion.chunk", choices: [choice] };
}

function inPieces(json: string): string[] {
  return json.match(/[\s\S]{1,5}/g) ?? [];
}
