import { expect, test } from "vitest";
import { readSse } from "./sse.ts";

function bodyOf(text: string, chunk: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += chunk) controller.enqueue(bytes.slice(at, at + chunk));
      controller.close();
    },
  });
}

const TEXT =
  ': hello\nid: 1\n\nid: 2\nevent: confirmation\ndata: {"hint":"Überweisen 🙂?"}\n\r\ndata: a\ndata: b\r\n\r\ndata: cut off';

test.each([1, 2, 3, 7, 1_000])("reads whole messages from chunks of %i bytes", async (chunk) => {
  const messages = [];
  for await (const message of readSse(bodyOf(TEXT, chunk))) messages.push(message);
  expect(messages).toEqual([
    { id: "1", event: "message", data: undefined },
    { id: "2", event: "confirmation", data: '{"hint":"Überweisen 🙂?"}' },
    { id: undefined, event: "message", data: "a\nb" },
  ]);
});

test("a long message in many chunks is looked through once, not once for each chunk", {
  timeout: 5_000,
}, async () => {
  const long = "x".repeat(4_000_000);
  const read = await readSse(bodyOf(`data: ${long}\n\n`, 2_000)).next();
  expect(read).toEqual({ done: false, value: { id: undefined, event: "message", data: long } });
});

test("ends when its signal says so, even if nothing comes", async () => {
  const over = new AbortController();
  const silent = new ReadableStream<Uint8Array>();
  const reading = readSse(silent, over.signal).next();
  over.abort();
  expect(await reading).toEqual({ done: true, value: undefined });
});
