import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { type Content, CountersignError, type FunctionCall, type Part } from "../../protocol/index.ts";
import type { Model, ModelChunk, ModelRequest, ToolDeclaration } from "./model.ts";

/** What a provider does with one request. */
export type ProviderPlay =
  /** Answers with a text, piece by piece where it is asked to stream. */
  | { readonly kind: "text"; readonly pieces: readonly string[] }
  /** Calls tools, after a text if there is one; sealed: with data that only the provider understands. */
  | {
      readonly kind: "calls";
      readonly calls: readonly FunctionCall[];
      readonly text?: string;
      readonly sealed?: boolean;
    }
  /** Fails, temporarily or permanently. */
  | { readonly kind: "failure"; readonly retryable: boolean }
  /** Takes the request and never answers. */
  | { readonly kind: "silence" }
  /** Begins to stream a text, and the connection breaks. */
  | { readonly kind: "cut"; readonly piece: string };

/** What a model provides to the suite, created for every case. */
export interface ModelSubject {
  readonly model: Model;
  /**
   * Sets what the provider does, one play a request. Like a real one it refuses a conversation in which a call is not
   * followed by its response, an id that it gave is another one, or something sealed does not come back as it was.
   */
  readonly provide: (...plays: readonly ProviderPlay[]) => void;
  /** Resolves when the provider has the next request in hand. */
  readonly arrival: () => Promise<void>;
}

/** One requirement of the interface; `run` throws if it is not met. */
export interface ModelCase {
  /** A claim about behaviour. */
  readonly name: string;
  /** Only for models that reach their provider by a connection, which can break. */
  readonly needs?: "connection";
  readonly run: (subject: ModelSubject) => Promise<void>;
}

const PAY: ToolDeclaration = {
  name: "pay",
  description: "Pays an amount to someone.",
  parameters: {
    type: "object",
    properties: { to: { type: "string" }, amount: { type: "number" } },
    required: ["to", "amount"],
  },
};
const LOOK: ToolDeclaration = { name: "look", description: "Looks at the balance." };

const PAY_ANA: FunctionCall = { id: "call_ana", name: "pay", args: { to: "Ana Ñ 🙂", amount: 12.5 } };
const PAY_BEN: FunctionCall = { id: "call_ben", name: "pay", args: { to: 'Ben "B"\n', amount: 1e-7 } };
const LOOK_UP: FunctionCall = { id: "call_look", name: "look", args: {} };

const STREAMED = [false, true] as const;

/** All requirements of `Model`, one case each, for any test runner. */
export const modelContract: readonly ModelCase[] = [
  {
    name: "a text answer that is not streamed is one whole chunk",
    async run({ model, provide }) {
      provide({ kind: "text", pieces: ["Hello, ", "Ana 🙂."] });
      const chunks = await ask(model, [user("Hi")], false);
      strictEqual(chunks.length, 1);
      checkWhole(chunks);
      strictEqual(textOf(chunks), "Hello, Ana 🙂.");
    },
  },
  {
    name: "a streamed text comes in partial pieces and then whole",
    async run({ model, provide }) {
      provide({ kind: "text", pieces: ["Hello, ", "Ana 🙂", "."] });
      const chunks = await ask(model, [user("Hi")], true);
      checkWhole(chunks);
      const partials = chunks.slice(0, -1);
      ok(partials.length >= 2, "at least two partial chunks");
      strictEqual(partials.map((chunk) => textOf([chunk])).join(""), "Hello, Ana 🙂.");
      strictEqual(textOf(chunks), "Hello, Ana 🙂.");
    },
  },
  ...STREAMED.map((stream) => ({
    name: `a call comes whole and under its id${how(stream)}`,
    async run({ model, provide }: ModelSubject) {
      provide({ kind: "calls", calls: [PAY_ANA] });
      const chunks = await ask(model, [user("Pay Ana")], stream);
      checkWhole(chunks);
      deepStrictEqual(callsOf(chunks), [PAY_ANA]);
    },
  })),
  ...STREAMED.map((stream) => ({
    name: `several calls come in order, after the text before them${how(stream)}`,
    async run({ model, provide }: ModelSubject) {
      provide({ kind: "calls", text: "I pay both.", calls: [PAY_ANA, LOOK_UP, PAY_BEN] });
      const chunks = await ask(model, [user("Pay both")], stream);
      checkWhole(chunks);
      deepStrictEqual(callsOf(chunks), [PAY_ANA, LOOK_UP, PAY_BEN]);
      strictEqual(textOf(chunks), "I pay both.");
      const parts = whole(chunks).parts;
      ok(
        parts.findIndex(({ text }) => text === "I pay both.") < parts.findIndex((part) => part.functionCall),
        "the text is before the calls",
      );
    },
  })),
  ...STREAMED.map((stream) => ({
    name: `calls and their responses are accepted in later requests${how(stream)}`,
    async run({ model, provide }: ModelSubject) {
      provide(
        { kind: "calls", calls: [PAY_ANA, PAY_BEN] },
        { kind: "calls", text: "Now the balance.", calls: [LOOK_UP] },
        { kind: "text", pieces: ["Both ", "paid."] },
      );
      const first = [user("Pay both")];
      const second = [...first, ...answered(await ask(model, first, stream))];
      const third = [...second, ...answered(await ask(model, second, stream))];
      strictEqual(textOf(await ask(model, third, stream)), "Both paid.");
    },
  })),
  ...STREAMED.map((stream) => ({
    name: `what only the provider understands comes back to it unharmed${how(stream)}`,
    async run({ model, provide }: ModelSubject) {
      provide(
        { kind: "calls", text: "I pay.", calls: [PAY_ANA, PAY_BEN], sealed: true },
        { kind: "text", pieces: ["Do", "ne."] },
      );
      const first = [user("Pay both")];
      const second = [...first, ...answered(await ask(model, first, stream))];
      strictEqual(textOf(await ask(model, second, stream)), "Done.");
    },
  })),
  {
    name: "a response that reports an error is accepted",
    async run({ model, provide }) {
      provide({ kind: "calls", calls: [PAY_ANA] }, { kind: "text", pieces: ["A pity", "."] });
      const first = [user("Pay Ana")];
      const turn = answered(await ask(model, first, false), { error: "tool call was rejected by the user" });
      strictEqual(textOf(await ask(model, [...first, ...turn], false)), "A pity.");
    },
  },
  {
    name: "a conversation that the provider refuses is a failure that does not pass",
    async run({ model, provide }) {
      provide({ kind: "calls", calls: [PAY_ANA] }, { kind: "text", pieces: ["Never ", "said."] });
      const first = [user("Pay Ana")];
      const [call] = answered(await ask(model, first, false));
      ok(call);
      await checkFailed(ask(model, [...first, call, user("Well?")], false), false);
    },
  },
  ...STREAMED.flatMap((stream) =>
    [true, false].map((retryable) => ({
      name: `a failure that ${retryable ? "may" : "will not"} pass says so${how(stream)}`,
      async run({ model, provide }: ModelSubject) {
        provide({ kind: "failure", retryable });
        await checkFailed(ask(model, [user("Hi")], stream), retryable);
      },
    })),
  ),
  ...STREAMED.map((stream) => ({
    name: `an abort ends the wait with the signal's reason${how(stream)}`,
    async run({ model, provide, arrival }: ModelSubject) {
      provide({ kind: "silence" });
      const controller = new AbortController();
      const reason = new Error("Ana left.");
      const arrived = arrival().then(() => controller.abort(reason));
      await rejects(
        ask(model, [user("Hi")], stream, { signal: controller.signal }),
        (error) => error === reason,
      );
      await arrived;
    },
  })),
  {
    name: "an abort before the question is not asked at all",
    async run({ model, provide }) {
      provide({ kind: "text", pieces: ["Still ", "here."] });
      const reason = new Error("Ana left.");
      await rejects(
        ask(model, [user("Hi")], false, { signal: AbortSignal.abort(reason) }),
        (error) => error === reason,
      );
      strictEqual(textOf(await ask(model, [user("Hi")], false)), "Still here.");
    },
  },
  {
    name: "a stream that is cut is a failure that may pass, and nothing of it is presented as whole",
    needs: "connection",
    async run({ model, provide }) {
      provide({ kind: "cut", piece: "Once upon" });
      const seen: ModelChunk[] = [];
      await checkFailed(ask(model, [user("Tell me")], true, { seen }), true);
      ok(
        seen.every(({ partial }) => partial === true),
        "only partial chunks came",
      );
    },
  },
  {
    name: "whoever leaves a stream early can ask again",
    async run({ model, provide }) {
      provide({ kind: "text", pieces: ["One ", "two ", "three"] }, { kind: "text", pieces: ["Ag", "ain."] });
      const options = { signal: new AbortController().signal, stream: true };
      for await (const chunk of model.generate(toRequest([user("Count")]), options)) {
        strictEqual(chunk.partial, true);
        break;
      }
      strictEqual(textOf(await ask(model, [user("Count")], false)), "Again.");
    },
  },
];

interface AskOptions {
  readonly signal?: AbortSignal;
  /** Where the chunks go, for a question that fails after some. */
  readonly seen?: ModelChunk[];
}

/** Asks with the tools above. The request is frozen: a model reads it and changes nothing. */
async function ask(
  model: Model,
  contents: readonly Content[],
  stream: boolean,
  { signal = new AbortController().signal, seen = [] }: AskOptions = {},
): Promise<ModelChunk[]> {
  for await (const chunk of model.generate(toRequest(contents), { signal, stream })) seen.push(chunk);
  return seen;
}

function toRequest(contents: readonly Content[]): ModelRequest {
  return freeze(structuredClone({ instruction: "You pay people.", contents, tools: [PAY, LOOK] }));
}

function user(text: string): Content {
  return { role: "user", parts: [{ text }] };
}

/** The model's turn as a ledger would give it back, and a response to each of its calls. */
function answered(
  chunks: readonly ModelChunk[],
  response = { result: "ok" } as { [key: string]: string },
): Content[] {
  const parts = JSON.parse(JSON.stringify(whole(chunks).parts)) as Part[];
  const responses = parts.flatMap(({ functionCall }): Part[] => {
    if (functionCall === undefined) return [];
    const { id, name } = functionCall;
    return [{ functionResponse: { ...(id !== undefined && { id }), name, response } }];
  });
  return [
    { role: "model", parts },
    { role: "user", parts: responses },
  ];
}

function whole(chunks: readonly ModelChunk[]): ModelChunk {
  const last = chunks.at(-1);
  ok(last, "there is a last chunk");
  return last;
}

function checkWhole(chunks: readonly ModelChunk[]): void {
  for (const chunk of chunks.slice(0, -1))
    strictEqual(chunk.partial, true, "all chunks but the last are partial");
  ok(whole(chunks).partial !== true, "the last chunk is not partial");
  strictEqual(whole(chunks).errorCode, undefined);
}

async function checkFailed(asking: Promise<unknown>, retryable: boolean): Promise<void> {
  await rejects(asking, (error) => {
    ok(CountersignError.isInstance(error), `a CountersignError, not ${String(error)}`);
    strictEqual(error.code, "model-failed");
    strictEqual(error.details["retryable"], retryable);
    return true;
  });
}

function textOf(chunks: readonly ModelChunk[]): string {
  const said = whole(chunks).parts.filter(({ text, thought }) => text !== undefined && thought !== true);
  return said.map(({ text }) => text).join("");
}

function callsOf(chunks: readonly ModelChunk[]): FunctionCall[] {
  return whole(chunks).parts.flatMap(({ functionCall }) =>
    functionCall === undefined ? [] : [functionCall],
  );
}

function how(stream: boolean): string {
  return stream ? ", streamed" : "";
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
