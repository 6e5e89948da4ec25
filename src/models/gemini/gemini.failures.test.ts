import { describe, expect, test } from "vitest";
import type { Clock } from "../../engine/index.ts";
import type { Model, ModelChunk } from "../../runtime/index.ts";
import { failure, type GeminiServer, openGeminiServer } from "../test-support/gemini-server.ts";
import { ask, createQuickClock, QUESTION } from "../test-support/questions.ts";
import { gemini } from "./index.ts";

const STREAMED = [{ stream: false }, { stream: true }];
const BUSY = failure(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", { headers: { "retry-after": "7" } });
const ANSWER = { pieces: [[{ text: "Hello." }]] };

describe("while Gemini is busy", () => {
  test.each(STREAMED)("the model waits as long as it asks and tries again (%o)", async ({ stream }) => {
    await using server = await openGeminiServer();
    const clock = createQuickClock();
    const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38.5s" };
    server.play(
      { reply: BUSY },
      { reply: failure(503, "UNAVAILABLE", "Overloaded.", { details: [retryInfo] }) },
      ANSWER,
    );
    const chunks = await ask(open(server, clock), QUESTION, { stream });
    expect(chunks.at(-1)).toMatchObject({ parts: [{ text: "Hello." }] });
    expect(clock.waits).toEqual([7000, 38_500]);
    expect(server.requests[2]?.body).toEqual(server.requests[0]?.body);
  });

  test("waits longer each time where Gemini does not say how long", async () => {
    await using server = await openGeminiServer();
    const clock = createQuickClock();
    const busy = { reply: failure(503, "UNAVAILABLE", "Overloaded.") };
    server.play(busy, busy, ANSWER);
    await ask(open(server, clock));
    const [first = 0, second = 0] = clock.waits;
    expect(first).toBeGreaterThanOrEqual(1000);
    expect(first).toBeLessThan(2000);
    expect(second).toBeGreaterThanOrEqual(2000);
    expect(second).toBeLessThan(3000);
  });

  test("the third refusal is the model's failure", async () => {
    await using server = await openGeminiServer();
    const clock = createQuickClock();
    server.play({ reply: BUSY }, { reply: BUSY }, { reply: BUSY }, ANSWER);
    await expect(ask(open(server, clock))).rejects.toMatchObject({
      code: "model-failed",
      message: "gemini-test answered with status 429: Quota exceeded.",
      details: { status: 429, retryable: true, retryAfterMs: 7000 },
    });
    expect(clock.waits).toEqual([7000, 7000]);
    expect(server.requests).toHaveLength(3);
  });

  test("a wait of over a minute is left to the caller", async () => {
    await using server = await openGeminiServer();
    const clock = createQuickClock();
    const date = new Date(clock.now() + 3_600_000).toUTCString();
    server.play(
      { reply: failure(429, "RESOURCE_EXHAUSTED", "Later.", { headers: { "retry-after": date } }) },
      ANSWER,
    );
    await expect(ask(open(server, clock))).rejects.toMatchObject({ details: { retryAfterMs: 3_600_000 } });
    expect(clock.waits).toEqual([]);
  });

  test("an abort ends the wait", async () => {
    await using server = await openGeminiServer();
    const controller = new AbortController();
    const reason = new Error("Ana left.");
    const clock: Clock = {
      ...createQuickClock(),
      sleep: () => {
        controller.abort(reason);
        return Promise.resolve();
      },
    };
    server.play({ reply: BUSY }, ANSWER);
    await expect(ask(open(server, clock), QUESTION, { signal: controller.signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a failure", () => {
  test.each([
    { status: 500, retryable: true },
    { status: 504, retryable: true },
    { status: 400, retryable: false },
    { status: 403, retryable: false },
  ])("with status $status is not retried here; may pass: $retryable", async ({ status, retryable }) => {
    await using server = await openGeminiServer();
    const clock = createQuickClock();
    server.play({ reply: failure(status, "STATUS", "No.") }, ANSWER);
    await expect(ask(open(server, clock))).rejects.toMatchObject({
      code: "model-failed",
      message: `gemini-test answered with status ${status}: No.`,
      details: { status, retryable },
    });
    expect(clock.waits).toEqual([]);
  });

  test("of a proxy that does not speak JSON keeps its status", async () => {
    await using server = await openGeminiServer();
    server.play({
      reply: { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad gateway</h1>" },
    });
    await expect(ask(open(server))).rejects.toMatchObject({
      message: "gemini-test answered with status 502: <h1>Bad gateway</h1>",
      details: { status: 502, retryable: true },
    });
  });

  test("to connect may pass", async () => {
    const server = await openGeminiServer();
    await server[Symbol.asyncDispose]();
    await expect(ask(open(server))).rejects.toMatchObject({
      code: "model-failed",
      details: { retryable: true },
    });
  });

  test("to read the answer may pass", async () => {
    await using server = await openGeminiServer();
    server.play({ reply: { status: 200, body: `{"candidates":[{"content":{"par` } });
    await expect(ask(open(server))).rejects.toMatchObject({
      code: "model-failed",
      details: { retryable: true },
    });
  });
});

describe("a stream", () => {
  test.each([
    { how: "ends without a reason", events: [piece("Once ")], ending: "end" as const },
    {
      how: "ends within an event",
      events: [piece("Once "), piece("upon").slice(0, 30)],
      ending: "end" as const,
    },
    {
      how: "breaks within an event",
      events: [piece("Once "), piece("upon").slice(0, 30)],
      ending: "break" as const,
    },
    { how: "ends without a word", events: [], ending: "end" as const },
  ])("that $how is a failure that may pass, and never whole", async ({ events, ending }) => {
    await using server = await openGeminiServer();
    server.play({ reply: { events, ending } });
    const seen: ModelChunk[] = [];
    await expect(collect(open(server), seen)).rejects.toMatchObject({
      code: "model-failed",
      message: expect.stringMatching(/^The answer of gemini-test is incomplete: /) as string,
      details: { retryable: true },
    });
    expect(seen.every(({ partial }) => partial === true)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test("that turns into an error says which", async () => {
    await using server = await openGeminiServer();
    const error = { error: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } };
    server.play({
      reply: { events: [piece("Once "), `data: ${JSON.stringify(error)}\r\n\r\n`], ending: "end" },
    });
    await expect(collect(open(server), [])).rejects.toMatchObject({
      message: "gemini-test answered with status 503: Overloaded.",
      details: { status: 503, retryable: true },
    });
  });

  test("is hung up on by whoever leaves it", async () => {
    await using server = await openGeminiServer();
    server.play({ reply: { events: [piece("Once "), piece("upon ")], ending: "wait" } });
    const hungUp = server.hangUp();
    const options = { stream: true, signal: new AbortController().signal };
    for await (const { partial } of open(server).generate(QUESTION, options)) {
      expect(partial).toBe(true);
      break;
    }
    await expect(hungUp).resolves.toBeUndefined();
  });

  test("ends at once with the signal's reason", async () => {
    await using server = await openGeminiServer();
    server.play({ reply: { events: [piece("Once ")], ending: "wait" } });
    const hungUp = server.hangUp();
    const controller = new AbortController();
    const reason = new Error("Ana left.");
    const reading = (async () => {
      const options = { stream: true, signal: controller.signal };
      for await (const { partial } of open(server).generate(QUESTION, options)) {
        expect(partial).toBe(true);
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    await expect(hungUp).resolves.toBeUndefined();
  });
});

describe("a fetch that does not listen to its signal", () => {
  const never = new Promise<never>(() => {});
  const body = (): ReadableStream => new ReadableStream({ pull: () => never });

  test.each([
    { when: "before the answer", stream: false, fetch: () => never },
    { when: "within a stream", stream: true, fetch: () => Promise.resolve(new Response(body())) },
  ])("does not keep an abort waiting $when", async ({ stream, fetch }) => {
    const controller = new AbortController();
    const reason = new Error("Ana left.");
    const asked = Promise.withResolvers<void>();
    const model = gemini("gemini-test", {
      apiKey: "test-key",
      fetch: () => {
        asked.resolve();
        return fetch();
      },
    });
    const aborting = asked.promise.then(() => setImmediate(() => controller.abort(reason)));
    await expect(ask(model, QUESTION, { stream, signal: controller.signal })).rejects.toBe(reason);
    await aborting;
  });
});

function open(server: GeminiServer, clock?: Clock): Model {
  return gemini("gemini-test", { apiKey: "test-key", baseUrl: server.url, clock });
}

async function collect(model: Model, seen: ModelChunk[]): Promise<void> {
  const options = { stream: true, signal: new AbortController().signal };
  for await (const chunk of model.generate(QUESTION, options)) seen.push(chunk);
}

/** An event of a stream, with a piece of text. */
function piece(text: string): string {
  return `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] } }] })}\r\n\r\n`;
}
