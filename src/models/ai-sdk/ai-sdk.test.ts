import { describe, expect, test } from "vitest";
import type { Part } from "../../protocol/index.ts";
import type { ModelChunk, ModelRequest } from "../../runtime/index.ts";
import { ask, askLast, QUESTION } from "../test-support/questions.ts";
import { type AiSdkModel, aiSdk } from "./index.ts";

const FINISH = { unified: "stop", raw: "stop" };
const USAGE = { inputTokens: { total: 7, cacheRead: 2 }, outputTokens: { total: 5, reasoning: 2 } };

describe("a request", () => {
  test("carries the instruction, the tools and the settings", async () => {
    const model = createModel("v4", []);
    const tools = [{ name: "pay", description: "Pays.", parameters: { type: "object" } }];
    const search = { type: "provider", id: "openai.web_search", name: "search", args: {} };
    const config = { temperature: 0.2, providerOptions: { openai: { store: false } }, tools: [search] };
    await ask(aiSdk(model), { ...QUESTION, instruction: "Be brief.", tools, config });
    expect(model.seen[0]).toEqual({
      temperature: 0.2,
      providerOptions: { openai: { store: false } },
      prompt: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Hi" }] },
      ],
      tools: [
        search,
        { type: "function", name: "pay", description: "Pays.", inputSchema: { type: "object" } },
      ],
      abortSignal: expect.any(AbortSignal) as AbortSignal,
    });
  });

  test("has each result right after its call, and what else was said after the results", async () => {
    const model = createModel("v4", []);
    await ask(aiSdk(model), {
      tools: [],
      contents: [
        { role: "user", parts: [{ text: "Pay both" }] },
        { role: "model", parts: [{ text: "Now." }, call("a", "pay"), call("b", "pay")] },
        {
          role: "user",
          parts: [{ text: "And hurry." }, respond("a", { result: 1 }), respond("b", { error: "No." })],
        },
        { role: "model", parts: [] },
        { role: "user", parts: [respond("c", { error: { code: 7 } })] },
      ],
    });
    expect(promptSeen(model).slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Now." },
          { type: "tool-call", toolCallId: "a", toolName: "pay", input: {} },
          { type: "tool-call", toolCallId: "b", toolName: "pay", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "a",
            toolName: "pay",
            output: { type: "json", value: { result: 1 } },
          },
          {
            type: "tool-result",
            toolCallId: "b",
            toolName: "pay",
            output: { type: "error-text", value: "No." },
          },
        ],
      },
      { role: "user", content: [{ type: "text", text: "And hurry." }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "pay",
            output: { type: "error-json", value: { code: 7 } },
          },
        ],
      },
    ]);
  });

  test("gives calls that have no id one, and the same to their responses", async () => {
    const model = createModel("v4", []);
    const calls = [call(undefined, "pay"), call("own", "pay"), call(undefined, "look")];
    const responses = [respond(undefined, {}), respond("own", {}), respond(undefined, {}, "look")];
    await ask(aiSdk(model), conversation(calls, responses));
    const ids = promptSeen(model).map(({ content }) =>
      (content as { toolCallId?: string }[]).map(({ toolCallId }) => toolCallId),
    );
    expect(ids).toEqual([[undefined], ["call-1", "own", "call-3"], ["call-1", "own", "call-3"]]);
  });

  test.each([
    { version: "v2" as const, data: "aGk=", url: new URL("https://files.test/a.pdf") },
    { version: "v3" as const, data: "aGk=", url: new URL("https://files.test/a.pdf") },
    {
      version: "v4" as const,
      data: { type: "data", data: "aGk=" },
      url: { type: "url", url: new URL("https://files.test/a.pdf") },
    },
  ])("has files in the form of specification $version", async ({ version, data, url }) => {
    const model = createModel(version, []);
    const parts = [
      { inlineData: { mimeType: "image/png", data: "aGk=", displayName: "a.png" } },
      { fileData: { mimeType: "application/pdf", fileUri: "https://files.test/a.pdf" } },
      { executableCode: { code: "1" } },
    ];
    await ask(aiSdk(model), { tools: [], contents: [{ role: "user", parts }] });
    expect(promptSeen(model)[0]?.content).toEqual([
      { type: "file", mediaType: "image/png", data, filename: "a.png" },
      { type: "file", mediaType: "application/pdf", data: url },
    ]);
  });

  test("with a file that has no URL is refused by name", async () => {
    const parts = [{ fileData: { fileUri: "files/abc", mimeType: "image/png" } }];
    const asking = ask(aiSdk(createModel("v4", [])), { tools: [], contents: [{ role: "user", parts }] });
    await expect(asking).rejects.toMatchObject({
      code: "model-failed",
      message: 'The file "files/abc" has no URL that the model could read it from.',
    });
  });
});

describe("an answer", () => {
  const content = [
    { type: "reasoning", text: "", ...notes("providerMetadata", "r0") },
    { type: "reasoning", text: "Hm.", ...notes("providerMetadata", "r1") },
    { type: "text", text: "I pay.", ...notes("providerMetadata", "t1") },
    {
      type: "tool-call",
      toolCallId: "a",
      toolName: "pay",
      input: `{"to":"Ana"}`,
      ...notes("providerMetadata", "c1"),
    },
    {
      type: "tool-call",
      toolCallId: "s",
      toolName: "search",
      input: `{"q":1}`,
      providerExecuted: true,
      ...notes("providerMetadata", "s1"),
    },
    {
      type: "tool-result",
      toolCallId: "s",
      toolName: "search",
      result: { hits: 1 },
      ...notes("providerMetadata", "s2"),
    },
    { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([104, 105]) } },
    {
      type: "reasoning-file",
      mediaType: "image/png",
      data: { type: "url", url: new URL("https://files.test/a") },
    },
    { type: "custom", kind: "acme.note", ...notes("providerMetadata", "x1") },
    { type: "source", sourceType: "url", id: "1", url: "https://example.test" },
  ];

  test("comes back to the provider with all its notes, after a round trip through JSON", async () => {
    const model = createModel("v4", content, { ...FINISH, unified: "tool-calls" });
    const answer = await askLast(aiSdk(model));
    const stored = JSON.parse(JSON.stringify(answer?.parts)) as Part[];
    expect(stored).toEqual(answer?.parts);
    await ask(aiSdk(model), conversation(stored, [respond("a", {})]));
    expect(promptSeen(model, 1)[1]?.content).toEqual([
      { type: "reasoning", text: "", ...notes("providerOptions", "r0") },
      { type: "reasoning", text: "Hm.", ...notes("providerOptions", "r1") },
      { type: "text", text: "I pay.", ...notes("providerOptions", "t1") },
      {
        type: "tool-call",
        toolCallId: "a",
        toolName: "pay",
        input: { to: "Ana" },
        ...notes("providerOptions", "c1"),
      },
      {
        type: "tool-call",
        toolCallId: "s",
        toolName: "search",
        input: { q: 1 },
        providerExecuted: true,
        ...notes("providerOptions", "s1"),
      },
      {
        type: "tool-result",
        toolCallId: "s",
        toolName: "search",
        output: { type: "json", value: { hits: 1 } },
        ...notes("providerOptions", "s2"),
      },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } },
      {
        type: "reasoning-file",
        mediaType: "image/png",
        data: { type: "url", url: new URL("https://files.test/a") },
      },
      { type: "custom", kind: "acme.note", ...notes("providerOptions", "x1") },
    ]);
  });

  test("has the same parts when it is streamed", async () => {
    const whole = await askLast(aiSdk(createModel("v4", content)));
    const streamed = await ask(aiSdk(createModel("v4", content)), QUESTION, { stream: true });
    expect(streamed.at(-1)).toEqual(whole);
    expect(streamed.slice(0, -1)).toEqual([
      { parts: [{ text: "Hm.", thought: true }], partial: true },
      { parts: [{ text: "I pay." }], partial: true },
    ]);
  });

  test("may use the id of a streamed text again for the next", async () => {
    const model = createModel("v4", [...textBlock("One."), ...textBlock("Two.")]);
    const answer = await askLast(aiSdk(model), QUESTION, { stream: true });
    expect(answer?.parts).toEqual([{ text: "One." }, { text: "Two." }]);
  });

  test("reports usage and why it ended in the words of ADK events", async () => {
    const usageMetadata = {
      promptTokenCount: 7,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 2,
      totalTokenCount: 12,
    };
    const text = [{ type: "text", text: "Hello." }];
    const expected: ModelChunk = { parts: [{ text: "Hello." }], finishReason: "STOP", usageMetadata };
    expect(await ask(aiSdk(createModel("v3", text)))).toEqual([expected]);
    const flat = { inputTokens: 7, outputTokens: 5, reasoningTokens: 2, cachedInputTokens: 2 };
    expect(await ask(aiSdk(createModel("v2", text, "stop", flat)))).toEqual([expected]);
  });

  test.each([
    { unified: "content-filter", errorCode: "SAFETY" },
    { unified: "error", errorCode: "OTHER" },
  ])("that ends with $unified is the error $errorCode, without parts", async ({ unified, errorCode }) => {
    const model = createModel("v4", [{ type: "text", text: "Well, " }], { unified, raw: "why" });
    for (const stream of [false, true]) {
      expect(await askLast(aiSdk(model), QUESTION, { stream })).toMatchObject({
        parts: [],
        errorCode,
        errorMessage: "The model stopped without an answer (why).",
      });
    }
  });

  test("that ran out of tokens says so, and is an error if it is empty", async () => {
    const length = { unified: "length", raw: "max_tokens" };
    const cutShort = await askLast(aiSdk(createModel("v4", [{ type: "text", text: "Once" }], length)));
    expect(cutShort).toMatchObject({ parts: [{ text: "Once" }], finishReason: "MAX_TOKENS" });
    expect(cutShort).not.toHaveProperty("errorCode");
    const empty = await askLast(aiSdk(createModel("v4", [], length)));
    expect(empty).toMatchObject({ parts: [], errorCode: "MAX_TOKENS" });
  });

  test.each([`{"to":"An`, "[]", "null", `"Ana"`, "Ana"])(
    "with the arguments %s runs none of its calls",
    async (input) => {
      const calls = [`{"to":"Ben"}`, input].map((each) => ({
        type: "tool-call",
        toolCallId: each,
        toolName: "pay",
        input: each,
      }));
      expect(await askLast(aiSdk(createModel("v4", calls)))).toMatchObject({
        parts: [],
        errorCode: "MALFORMED_FUNCTION_CALL",
        errorMessage: "The model called pay with arguments that are not a JSON object.",
      });
    },
  );

  test("with empty arguments has none", async () => {
    const calls = [{ type: "tool-call", toolCallId: "a", toolName: "look", input: "" }];
    const answer = await askLast(aiSdk(createModel("v4", calls)));
    expect(answer?.parts).toEqual([{ functionCall: { id: "a", name: "look", args: {} } }]);
  });

  test("that asks to approve a tool of the provider's own is an error, not silence", async () => {
    const model = createModel("v4", [{ type: "tool-approval-request", approvalId: "1", toolCallId: "a" }]);
    expect(await askLast(aiSdk(model))).toMatchObject({ parts: [], errorCode: "UNEXPECTED_TOOL_CALL" });
  });

  test("with arguments that never became a call is an error", async () => {
    const model = createModel("v4", [{ type: "tool-input-start", id: "a", toolName: "pay" }]);
    expect(await askLast(aiSdk(model), QUESTION, { stream: true })).toMatchObject({
      parts: [],
      errorCode: "MALFORMED_FUNCTION_CALL",
    });
  });
});

describe("a provider that does not listen to its signal", () => {
  const never = new Promise<never>(() => {});

  test.each([
    { when: "before the answer", stream: false, stepped: { doGenerate: () => never } },
    {
      when: "within a stream",
      stream: true,
      stepped: { doStream: () => Promise.resolve({ stream: new ReadableStream({ pull: () => never }) }) },
    },
  ])("does not keep an abort waiting $when", async ({ stream, stepped }) => {
    const controller = new AbortController();
    const reason = new Error("Ana left.");
    setImmediate(() => controller.abort(reason));
    const model = aiSdk({ ...createModel("v4", []), ...stepped });
    await expect(ask(model, QUESTION, { stream, signal: controller.signal })).rejects.toBe(reason);
  });

  test("is let go of in both ways when its stream is left", async () => {
    const letGo: unknown[] = [];
    const piece = { type: "text-delta", id: "0", delta: "Once " };
    const stream = new ReadableStream({
      pull: (queue) => queue.enqueue(piece),
      cancel: () => void letGo.push("cancelled"),
    });
    const doStream = ({ abortSignal }: { abortSignal: AbortSignal }): Promise<object> => {
      abortSignal.addEventListener("abort", () => letGo.push("aborted"));
      return Promise.resolve({ stream });
    };
    const model = aiSdk({ ...createModel("v4", []), doStream });
    for await (const { parts } of model.generate(QUESTION, {
      stream: true,
      signal: new AbortController().signal,
    })) {
      expect(parts).toEqual([{ text: "Once " }]);
      break;
    }
    expect(letGo).toEqual(["cancelled", "aborted"]);
  });
});

test("a model of another kind is refused with what to pass instead", () => {
  for (const other of ["openai/gpt-5", { specificationVersion: "v1" }, undefined]) {
    expect(() => aiSdk(other as unknown as AiSdkModel)).toThrow(
      'aiSdk() takes a language model of AI SDK 5 or later, as openai("…") returns one.',
    );
  }
});

test("the model is called as it calls itself, or as it is told", () => {
  expect(aiSdk(createModel("v4", [])).name).toBe("acme-1");
  expect(aiSdk(createModel("v4", []), { name: "cheap" }).name).toBe("cheap");
});

/** What a provider notes on a part: metadata as it says it, options as it is told. */
function notes(member: "providerMetadata" | "providerOptions", id: string): object {
  return { [member]: { acme: { id, sealed: "c2VhbA==" } } };
}

/** A streamed text, under the id that some providers give to every one. */
function textBlock(delta: string): { readonly type: string }[] {
  return ["text-start", "text-delta", "text-end"].map((type) => ({ type, id: "0", delta }));
}

interface SeenPrompt {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

/** A provider at its narrowest: it writes down what it is asked, and always gives the same answer. */
function createModel(
  specificationVersion: AiSdkModel["specificationVersion"],
  content: readonly { readonly type: string; readonly [member: string]: unknown }[],
  finishReason: unknown = FINISH,
  usage: unknown = USAGE,
): AiSdkModel & { readonly seen: readonly SeenPrompt[] } {
  const seen: SeenPrompt[] = [];
  return {
    specificationVersion,
    provider: "acme",
    modelId: "acme-1",
    seen,
    doGenerate: (options) => {
      seen.push(options);
      return Promise.resolve({ content, finishReason, usage, warnings: [] });
    },
    doStream: (options) => {
      seen.push(options);
      const pieces = content.flatMap((piece, index): object[] => {
        const { type, text, providerMetadata } = piece;
        if (type !== "text" && type !== "reasoning") return [piece];
        const id = String(index);
        return [
          { type: `${type}-start`, id, providerMetadata: { acme: { begun: true } } },
          { type: `${type}-delta`, id, delta: text },
          { type: `${type}-end`, id, providerMetadata },
        ];
      });
      const stream = ReadableStream.from([
        { type: "stream-start", warnings: [] },
        ...pieces,
        { type: "finish", finishReason, usage },
      ]);
      return Promise.resolve({ stream });
    },
  };
}

function promptSeen(model: { readonly seen: readonly SeenPrompt[] }, request = 0): SeenPrompt["prompt"] {
  return model.seen[request]?.prompt ?? [];
}

function conversation(turn: readonly Part[], responses: readonly Part[]): ModelRequest {
  const contents = [...QUESTION.contents, { role: "model", parts: turn }, { role: "user", parts: responses }];
  return { ...QUESTION, contents };
}

function call(id: string | undefined, name: string): Part {
  return { functionCall: { ...(id !== undefined && { id }), name, args: {} } };
}

function respond(
  id: string | undefined,
  response: NonNullable<Part["functionResponse"]>["response"],
  name = "pay",
): Part {
  return { functionResponse: { ...(id !== undefined && { id }), name, response } };
}
