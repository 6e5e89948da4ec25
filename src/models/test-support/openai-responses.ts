import type { Reply } from "./local-server.ts";
import type { OpenAiAnswer, OpenAiCall } from "./openai-server.ts";

const HEAD = { id: "resp_1", created_at: 1_700_000_000, model: "gpt-test" };
const USAGE = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
const REASONING = {
  type: "reasoning",
  id: "rs_1",
  encrypted_content: "gAAAA/seal+==",
  summary: [{ type: "summary_text", text: "**Paying**" }],
};

interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
}

/** The answer as a response, or as the events of one. */
export function answerResponse(answer: OpenAiAnswer, stream: boolean): Reply {
  return stream
    ? streamed(answer)
    : { status: 200, body: { ...HEAD, ...endOf(answer), output: itemsOf(answer) } };
}

/** What OpenAI would say of this input, if anything. */
export function complaintAboutResponse(body: unknown, given: readonly OpenAiAnswer[]): string | undefined {
  const { input = [] } = body as { readonly input?: readonly Item[] };
  const calls = input.filter(({ type }) => type === "function_call");
  const outputs = input.filter(({ type }) => type === "function_call_output");
  const dangling = calls.find((call) => !outputs.some((output) => output.call_id === call.call_id));
  if (dangling !== undefined) return `No tool output found for function call ${dangling.call_id}.`;
  const stray = outputs.find((output) => !calls.some((call) => call.call_id === output.call_id));
  if (stray !== undefined)
    return `No tool call found for function call output with call_id ${stray.call_id}.`;
  if (calls.length === 0 || !given.some(({ sealed }) => sealed === true)) return undefined;
  const at = input.findIndex(({ type }) => type === "reasoning");
  if (at < 0 || at > input.findIndex(({ type }) => type === "function_call")) {
    return "Item of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";
  }
  const isSame = JSON.stringify(sorted(input[at])) === JSON.stringify(sorted(REASONING));
  return isSame ? undefined : "The encrypted content for item rs_1 could not be verified.";
}

function sorted(value: object | undefined): unknown {
  return Object.entries(value ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function endOf({ finishReason }: OpenAiAnswer): object {
  const reasons: { readonly [finish: string]: string } = {
    length: "max_output_tokens",
    content_filter: "content_filter",
  };
  const reason = reasons[finishReason ?? ""];
  return { usage: USAGE, error: null, incomplete_details: reason === undefined ? null : { reason } };
}

function itemsOf({ text, calls = [], sealed }: OpenAiAnswer): object[] {
  return [
    ...(sealed === true ? [REASONING] : []),
    ...(text === undefined ? [] : [toMessage(text)]),
    ...calls.map(toCallItem),
  ];
}

function toMessage(text: readonly string[]): object {
  const content = [{ type: "output_text", text: text.join(""), annotations: [] }];
  return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
}

function toCallItem({ id, ...call }: OpenAiCall): object {
  return { type: "function_call", id: `fc_${id}`, call_id: id, status: "completed", ...call };
}

function streamed(answer: OpenAiAnswer): Reply {
  const { text, calls = [], sealed, ending = "end", lastEvent } = answer;
  const groups = [
    ...(sealed === true ? [reasoningEvents] : []),
    ...(text === undefined ? [] : [(index: number) => textEvents(text, index, ending === "end")]),
    ...calls.map((call) => (index: number) => callEvents(call, index)),
  ];
  const incomplete = answer.finishReason === "length" || answer.finishReason === "content_filter";
  const last: object = lastEvent ?? {
    type: incomplete ? "response.incomplete" : "response.completed",
    response: { ...HEAD, ...endOf(answer) },
  };
  const events = [
    { type: "response.created", response: HEAD },
    ...groups.flatMap((group, index) => group(index)),
    ...(ending === "end" ? [last] : []),
  ];
  return { events: events.map((event) => `data: ${JSON.stringify(event)}\n\n`), ending };
}

type Event = { readonly type: string; readonly [member: string]: unknown };

function reasoningEvents(index: number): Event[] {
  const at = { item_id: REASONING.id, output_index: index, summary_index: 0 };
  const [summary] = REASONING.summary;
  return [
    item("added", index, { ...REASONING, encrypted_content: "gAAAA/begun", summary: [] }),
    { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", ...at, delta: summary?.text.slice(0, 4) },
    { type: "response.reasoning_summary_text.delta", ...at, delta: summary?.text.slice(4) },
    { type: "response.reasoning_summary_part.done", ...at, part: summary },
    item("done", index, REASONING),
  ];
}

function textEvents(text: readonly string[], index: number, isWhole: boolean): Event[] {
  const at = { item_id: "msg_1", output_index: index, content_index: 0 };
  return [
    item("added", index, {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "in_progress",
      content: [],
    }),
    ...text.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    ...(isWhole ? [item("done", index, toMessage(text))] : []),
  ];
}

function callEvents(call: OpenAiCall, index: number): Event[] {
  const done = toCallItem(call);
  const at = { item_id: `fc_${call.id}`, output_index: index };
  return [
    item("added", index, { ...done, status: "in_progress", arguments: "" }),
    ...(call.arguments.match(/[\s\S]{1,5}/g) ?? []).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...at,
      delta,
    })),
    { type: "response.function_call_arguments.done", ...at, arguments: call.arguments },
    item("done", index, done),
  ];
}

function item(step: "added" | "done", index: number, value: object): Event {
  return { type: `response.output_item.${step}`, output_index: index, item: value };
}
