import { isDeepStrictEqual } from "node:util";
import { afterEach } from "vitest";
import { type JsonObject, type Model, Runner, type RunnerOptions } from "../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../src/models/scripted/index.ts";
import type { Content, Part } from "../../src/protocol/index.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../src/protocol/index.ts";
import type { ModelRequest } from "../../src/runtime.ts";

/** Makes Runners on a ledger in memory, unless another is given, and closes them after each test of the file. */
export function useRunners(): (options: RunnerOptions) => Runner {
  const open: Runner[] = [];
  afterEach(async () => {
    for (const runner of open.splice(0)) await runner.close();
  });
  return (options) => {
    const runner = new Runner({ ledger: "memory:", ...options });
    open.push(runner);
    return runner;
  };
}

/** One answer of a model, or what it makes of the request. */
export type Line = ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A model that remembers what it was asked, and insists that every call is followed by its result. */
export interface StrictModel extends Model {
  readonly requests: readonly ModelRequest[];
}

/** Says these lines in turn; one question more than there are lines is a failure of the model. */
export function play(...lines: readonly Line[]): StrictModel {
  let next = 0;
  return respond((request) => {
    const line = lines[next++];
    if (line === undefined) throw new Error(`There is no line ${next} in the play.`);
    return typeof line === "function" ? line(request) : line;
  });
}

/** Answers every question by this function. */
export function respond(
  reply: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
): StrictModel {
  const requests: ModelRequest[] = [];
  const model = scripted((request) => {
    requests.push(request);
    insistOnCompleteTurns(request);
    return reply(request);
  });
  return { ...model, requests };
}

function insistOnCompleteTurns({ contents }: ModelRequest): void {
  let expected: readonly Label[] = [];
  for (const { role, parts } of contents) {
    if (parts.length === 0) throw new Error("A message has no parts.");
    const answered = parts.flatMap(({ functionResponse }) => labelsOf(functionResponse));
    if (!isDeepStrictEqual(answered, expected)) {
      throw new Error(`Expected the results of ${JSON.stringify(expected)}, got ${JSON.stringify(parts)}.`);
    }
    const called = parts.flatMap(({ functionCall }) => labelsOf(functionCall));
    if (called.length > 0 && role !== "model") throw new Error("Only a model may call.");
    expected = called;
  }
  if (expected.length > 0) throw new Error(`${JSON.stringify(expected)} has no result.`);
  if (contents.some(({ parts }) => parts.some(isConfirmationTraffic))) {
    throw new Error("Confirmation traffic is in the prompt.");
  }
}

/** A request or an answer; a model's own attempt at one, and the error it got, are its own business. */
function isConfirmationTraffic({ functionCall, functionResponse }: Part): boolean {
  if (functionCall?.name === REQUEST_CONFIRMATION_FUNCTION_NAME) {
    return "originalFunctionCall" in functionCall.args;
  }
  if (functionResponse?.name !== REQUEST_CONFIRMATION_FUNCTION_NAME) return false;
  return functionResponse.response["code"] !== "reserved-name";
}

type Label = { readonly id: string | undefined; readonly name: string };

function labelsOf(part: { readonly id?: string; readonly name: string } | undefined): readonly Label[] {
  return part === undefined ? [] : [{ id: part.id, name: part.name }];
}

/** A model's call of a tool. */
export function call(name: string, args: JsonObject = {}, id?: string): Part {
  return { functionCall: { name, args, ...(id === undefined ? {} : { id }) } };
}

/** The results that the last message of a request carries, in order. */
export function resultsIn({ contents }: ModelRequest): readonly JsonObject[] {
  return (contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [functionResponse.response],
  );
}

/** Everything a model was told in words, one line a part. */
export function wordsIn({ contents }: ModelRequest): readonly string[] {
  return contents.flatMap(({ parts }) => parts.flatMap(({ text }) => (text === undefined ? [] : [text])));
}

/** A user's answer to a confirmation, as ADK clients send it. */
export function answer(id: string, response: JsonObject): Content {
  return {
    role: "user",
    parts: [{ functionResponse: { id, name: REQUEST_CONFIRMATION_FUNCTION_NAME, response } }],
  };
}

/** Everything that an iteration gives. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
