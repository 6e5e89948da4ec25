import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAI2 } from "@ai-sdk/openai-2";
import { createOpenAI as createOpenAI3 } from "@ai-sdk/openai-3";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../engine/index.ts";
import type { Model, ModelChunk } from "../../runtime/index.ts";
import { failure, type OpenAiServer, openOpenAiServer } from "../test-support/openai-server.ts";
import { ask, askLast, createQuickClock, QUESTION } from "../test-support/questions.ts";
import { aiSdk } from "./index.ts";

const PROVIDERS = { v4: createOpenAI, v3: createOpenAI3, v2: createOpenAI2 };
const EVERY = (["v4", "v3", "v2"] as const).flatMap((version) =>
  (["chat", "responses"] as const).map((wire) => ({ version, wire })),
);
type Kind = (typeof EVERY)[number];
const NEWEST: Kind = { version: "v4", wire: "chat" };
const ANSWER = { text: ["Hel", "lo."] };

describe("while the provider is busy", () => {
  test.each(EVERY)("the model waits as long as it asks and tries again: $version, $wire", async (kind) => {
    await using server = await openOpenAiServer();
    for (const stream of [false, true]) {
      const clock = createQuickClock();
      server.play(
        { reply: failure(429, "Slow down.", { "retry-after": "7" }) },
        { reply: failure(503, "Overloaded.", { "retry-after-ms": "250" }) },
        ANSWER,
      );
      const chunk = await askLast(open(server, kind, clock), QUESTION, { stream });
      expect(chunk).toMatchObject({ parts: [{ text: "Hello." }], finishReason: "STOP" });
      expect(clock.waits).toEqual([7000, 250]);
    }
  });

  test("the third refusal is the model's failure", async () => {
    await using server = await openOpenAiServer();
    const clock = createQuickClock();
    const busy = { reply: failure(429, "Slow down.", { "retry-after": "7" }) };
    server.play(busy, busy, busy, ANSWER);
    await expect(ask(open(server, NEWEST, clock))).rejects.toMatchObject({
      code: "model-failed",
      message: "gpt-5 answered with status 429: Slow down.",
      details: { status: 429, retryable: true, retryAfterMs: 7000 },
    });
    expect(server.requests).toHaveLength(3);
  });

  test("a wait of over a minute is left to the caller", async () => {
    await using server = await openOpenAiServer();
    const clock = createQuickClock();
    server.play({ reply: failure(429, "Tomorrow.", { "retry-after": "3600" }) }, ANSWER);
    await expect(ask(open(server, NEWEST, clock))).rejects.toMatchObject({
      details: { retryAfterMs: 3_600_000 },
    });
    expect(clock.waits).toEqual([]);
  });
});

describe("a failure", () => {
  test.each([
    { status: 500, retryable: true },
    { status: 400, retryable: false },
    { status: 401, retryable: false },
  ])("with status $status is not retried here; may pass: $retryable", async ({ status, retryable }) => {
    await using server = await openOpenAiServer();
    const clock = createQuickClock();
    server.play({ reply: failure(status, "No.") }, ANSWER);
    await expect(ask(open(server, NEWEST, clock))).rejects.toMatchObject({
      code: "model-failed",
      message: `gpt-5 answered with status ${status}: No.`,
      details: { status, retryable },
    });
    expect(clock.waits).toEqual([]);
  });

  test.each(EVERY)("to connect may pass: $version, $wire", async (kind) => {
    const server = await openOpenAiServer();
    await server[Symbol.asyncDispose]();
    await expect(ask(open(server, kind))).rejects.toMatchObject({
      code: "model-failed",
      details: { retryable: true },
    });
  });
});

describe.each(EVERY)("a stream: $version, $wire", (kind) => {
  test("that ends without a reason is a failure that may pass, and never whole", async () => {
    await using server = await openOpenAiServer();
    const calls = [{ id: "a", name: "pay", arguments: `{"to":"Ana"}` }];
    for (const play of [{ text: ["Once "] }, { calls }]) {
      server.play({
        ...play,
        lastEvent: kind.wire === "chat" ? { choices: [] } : { type: "response.unknown" },
      });
      const seen: ModelChunk[] = [];
      await expect(collect(open(server, kind), seen)).rejects.toMatchObject({
        code: "model-failed",
        message: "The answer of gpt-5 is incomplete: the stream ended early.",
        details: { retryable: true },
      });
      expect(seen.every(({ partial }) => partial === true)).toBe(true);
    }
  });

  test("that turns into an error is the model's failure", async () => {
    await using server = await openOpenAiServer();
    const error = { type: "server_error", code: "server_error", message: "Overloaded.", param: null };
    const chat = { error };
    const responses = { ...error, type: "error", sequence_number: 9, error };
    server.play({ text: ["Once "], lastEvent: kind.wire === "chat" ? chat : responses });
    const seen: ModelChunk[] = [];
    await expect(collect(open(server, kind), seen)).rejects.toMatchObject({
      code: "model-failed",
      message: expect.stringContaining("Overloaded.") as string,
    });
    expect(seen.every(({ partial }) => partial === true)).toBe(true);
  });

  test("with a call whose arguments are no JSON runs none of its calls", async () => {
    await using server = await openOpenAiServer();
    const calls = [
      { id: "a", name: "pay", arguments: `{"to":"Ana"}` },
      { id: "b", name: "pay", arguments: `{"to":"Be` },
    ];
    for (const stream of [true, false]) {
      server.play({ calls });
      expect(await askLast(open(server, kind), QUESTION, { stream })).toMatchObject({
        parts: [],
        errorCode: "MALFORMED_FUNCTION_CALL",
      });
    }
  });

  test("that the provider's filter stopped is an error", async () => {
    await using server = await openOpenAiServer();
    for (const stream of [true, false]) {
      server.play({ text: ["Well, "], finishReason: "content_filter" });
      expect(await askLast(open(server, kind), QUESTION, { stream })).toMatchObject({
        parts: [],
        errorCode: "SAFETY",
      });
    }
  });

  test("is hung up on by whoever leaves it", async () => {
    await using server = await openOpenAiServer();
    server.play({ text: ["Once ", "upon "], ending: "wait" });
    const hungUp = server.hangUp();
    const options = { stream: true, signal: new AbortController().signal };
    for await (const { partial } of open(server, kind).generate(QUESTION, options)) {
      expect(partial).toBe(true);
      break;
    }
    await expect(hungUp).resolves.toBeUndefined();
  });

  test("ends at once with the signal's reason", async () => {
    await using server = await openOpenAiServer();
    server.play({ text: ["Once "], ending: "wait" });
    const hungUp = server.hangUp();
    const controller = new AbortController();
    const reason = new Error("Ana left.");
    const reading = (async () => {
      const options = { stream: true, signal: controller.signal };
      for await (const { partial } of open(server, kind).generate(QUESTION, options)) {
        expect(partial).toBe(true);
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    await expect(hungUp).resolves.toBeUndefined();
  });
});

function open(server: OpenAiServer, { version, wire }: Kind, clock?: Clock): Model {
  const provider = PROVIDERS[version]({ baseURL: server.url, apiKey: "test-key" });
  return aiSdk(provider[wire]("gpt-5"), { clock });
}

async function collect(model: Model, seen: ModelChunk[]): Promise<void> {
  const options = { stream: true, signal: new AbortController().signal };
  for await (const chunk of model.generate(QUESTION, options)) seen.push(chunk);
}
