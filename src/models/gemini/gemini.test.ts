import { describe, expect, test } from "vitest";
import type { Content, Part } from "../../protocol/index.ts";
import type { Model, ModelRequest } from "../../runtime/index.ts";
import { type GeminiServer, openGeminiServer } from "../test-support/gemini-server.ts";
import { ask, askLast, QUESTION } from "../test-support/questions.ts";
import { gemini } from "./index.ts";

const STREAMED = [{ stream: false }, { stream: true }];

describe("a request", () => {
  test("carries the instruction, the tools with their JSON Schema and the settings", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ text: "Hello." }]] });
    const parameters = {
      type: "object",
      properties: { to: { type: ["string", "null"] } },
      additionalProperties: false,
    };
    await ask(open(server), {
      ...QUESTION,
      instruction: "Be brief.",
      tools: [
        { name: "pay", description: "Pays.", parameters },
        { name: "look", description: "Looks." },
      ],
      config: { temperature: 0.2, thinkingConfig: { includeThoughts: true }, tools: [{ googleSearch: {} }] },
    });
    expect(server.requests[0]).toMatchObject({ path: "/v1beta/models/gemini-test:generateContent" });
    expect(server.requests[0]?.body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        { googleSearch: {} },
        {
          functionDeclarations: [
            { name: "pay", description: "Pays.", parametersJsonSchema: parameters },
            { name: "look", description: "Looks." },
          ],
        },
      ],
      generationConfig: { temperature: 0.2, thinkingConfig: { includeThoughts: true } },
    });
  });

  test.each(STREAMED)("brings back every part of an answer byte for byte (%o)", async ({ stream }) => {
    await using server = await openGeminiServer();
    const given: Part[] = [
      { text: "**Weighing it**\n", thought: true },
      { text: "I will pay.", thoughtSignature: "dGV4dA/+==" },
      {
        functionCall: { id: "fc-1", name: "pay", args: { to: "Ana", nested: [{ "ü🙂": null }, 1e21] } },
        thoughtSignature: "Y2FsbA==",
      },
      {
        functionCall: { id: "fc-2", name: "pay", args: { to: "Ben" }, willContinue: false, nextYear: 1 },
      } as Part,
      { executableCode: { language: "PYTHON", code: "print(1)\n" }, nextYear: { signed: true } },
    ];
    server.play({ pieces: given.map((part) => [part]) }, { pieces: [[{ text: "Done." }]] });
    const model = open(server);
    const answer = await askLast(model, QUESTION, { stream });
    const stored = JSON.parse(JSON.stringify(answer?.parts)) as Part[];
    await ask(model, conversation(stored, [respond("fc-1"), respond("fc-2")]), { stream });
    expect(JSON.stringify(contentsSeen(server, 1)[1])).toBe(JSON.stringify({ role: "model", parts: given }));
  });

  test("sends the ids that Gemini gave and none of ours", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ functionCall: { name: "pay", args: {} }, thoughtSignature: "c2ln" }]] });
    server.play({ pieces: [[{ text: "Done." }]] });
    const model = open(server);
    const [part] = (await askLast(model))?.parts ?? [];
    expect(part).toEqual({ functionCall: { name: "pay", args: {} }, thoughtSignature: "c2ln" });
    const stored: Part = { ...part, functionCall: { id: "adk-1f", name: "pay", args: {} } };
    const request = conversation([stored], [respond("adk-1f")]);
    await ask(model, request);
    expect(contentsSeen(server, 1).slice(1)).toEqual([
      { role: "model", parts: [{ functionCall: { name: "pay", args: {} }, thoughtSignature: "c2ln" }] },
      { role: "user", parts: [{ functionResponse: { name: "pay", response: { result: "ok" } } }] },
    ]);
    expect(stored.functionCall?.id).toBe("adk-1f");
  });

  test("joins the responses to one turn, and leaves out what is empty", async () => {
    await using server = await openGeminiServer();
    const calls = ["fc-1", "fc-2"].map((id) => ({ functionCall: { id, name: "pay", args: {} } }));
    server.play({ pieces: [calls] }, { pieces: [[{ text: "Done." }]] });
    const model = open(server);
    const parts = (await askLast(model))?.parts ?? [];
    const [question, turn] = conversation(parts, []).contents;
    const answers = ["fc-1", "fc-2"].map((id) => ({ role: "user", parts: [respond(id)] }));
    const contents = [question, turn, { parts: [] }, ...answers].filter((content) => content !== undefined);
    await ask(model, { ...QUESTION, contents });
    expect(contentsSeen(server, 1)).toHaveLength(3);
    expect(contentsSeen(server, 1)[2]?.parts).toEqual([respond("fc-1"), respond("fc-2")]);
  });
});

describe("an answer", () => {
  test("reports usage and why it ended", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ text: "Hello." }]] });
    expect(await ask(open(server))).toEqual([
      {
        parts: [{ text: "Hello." }],
        finishReason: "STOP",
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
      },
    ]);
  });

  test("that is streamed joins texts, keeps thoughts apart and signatures on their parts", async () => {
    await using server = await openGeminiServer();
    const call = { functionCall: { name: "pay", args: { to: "Ana" } }, thoughtSignature: "Y2FsbA==" };
    server.play({
      pieces: [
        [{ text: "Let me ", thought: true }],
        [{ text: "think.", thought: true }, { text: "I " }],
        [{ text: "pay" }],
        [{ text: " Ana.", thoughtSignature: "dGV4dA==" }],
        [{ text: " And" }, { text: " wait." }],
        [call],
        [{ text: "" }],
        [{ text: "", thoughtSignature: "ZW5k" }],
      ],
    });
    const chunks = await ask(open(server), QUESTION, { stream: true });
    expect(chunks.slice(0, -1).flatMap(({ parts }) => parts)).toEqual([
      { text: "Let me ", thought: true },
      { text: "think.", thought: true },
      { text: "I " },
      { text: "pay" },
      { text: " Ana." },
      { text: " And" },
      { text: " wait." },
    ]);
    expect(chunks.at(-1)?.parts).toEqual([
      { text: "Let me think.", thought: true },
      { text: "I pay" },
      { text: " Ana.", thoughtSignature: "dGV4dA==" },
      { text: " And wait." },
      call,
      { text: "", thoughtSignature: "ZW5k" },
    ]);
  });

  test.each(
    STREAMED.flatMap(({ stream }) =>
      ["SAFETY", "MALFORMED_FUNCTION_CALL", "RECITATION", "OTHER", "SOMETHING_NEW"].map((reason) => ({
        reason,
        stream,
      })),
    ),
  )("that ends with $reason is an error without parts (stream: $stream)", async ({ reason, stream }) => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ text: "Well, " }], []], finishReason: reason });
    expect(await askLast(open(server), QUESTION, { stream })).toMatchObject({
      parts: [],
      finishReason: reason,
      errorCode: reason,
      errorMessage: `Gemini stopped without an answer (${reason}).`,
    });
  });

  test.each(STREAMED)("to a conversation that Gemini blocks is an error (%o)", async ({ stream }) => {
    await using server = await openGeminiServer();
    server.play({
      pieces: [[]],
      rest: { candidates: undefined, promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
    });
    expect(await askLast(open(server), QUESTION, { stream })).toMatchObject({
      parts: [],
      errorCode: "PROHIBITED_CONTENT",
      errorMessage: "Gemini refused the conversation (PROHIBITED_CONTENT).",
    });
  });

  test.each(STREAMED)(
    "that ran out of tokens says so, and is an error if it is empty (%o)",
    async ({ stream }) => {
      await using server = await openGeminiServer();
      server.play({ pieces: [[{ text: "Once upon" }]], finishReason: "MAX_TOKENS" });
      server.play({ pieces: [[]], finishReason: "MAX_TOKENS" });
      const model = open(server);
      const cutShort = await askLast(model, QUESTION, { stream });
      expect(cutShort).toMatchObject({ parts: [{ text: "Once upon" }], finishReason: "MAX_TOKENS" });
      expect(cutShort).not.toHaveProperty("errorCode");
      expect(await askLast(model, QUESTION, { stream })).toMatchObject({
        parts: [],
        errorCode: "MAX_TOKENS",
      });
    },
  );

  test("with a call that names no function runs none of its calls", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[{ functionCall: { name: "pay", args: {} } }, { functionCall: { args: {} } }]] });
    expect(await askLast(open(server))).toMatchObject({ parts: [], errorCode: "MALFORMED_FUNCTION_CALL" });
  });

  test("may be empty", async () => {
    await using server = await openGeminiServer();
    server.play({ pieces: [[]] });
    expect(await askLast(open(server))).toMatchObject({ parts: [], finishReason: "STOP" });
  });
});

function open(server: GeminiServer): Model {
  return gemini("gemini-test", { apiKey: "test-key", baseUrl: server.url });
}

function conversation(turn: readonly Part[], responses: readonly Part[]): ModelRequest {
  const contents = [...QUESTION.contents, { role: "model", parts: turn }, { role: "user", parts: responses }];
  return { ...QUESTION, contents };
}

function respond(id: string): Part {
  return { functionResponse: { id, name: "pay", response: { result: "ok" } } };
}

function contentsSeen(server: GeminiServer, request: number): Content[] {
  const { contents = [] } = (server.requests[request]?.body ?? {}) as { contents?: Content[] };
  return contents;
}
