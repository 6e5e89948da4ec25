import { expect, test } from "vitest";
import { type BodyEnd, watchBody } from "./watch-body.ts";

interface Watched {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly source: ReadableStreamDefaultController<Uint8Array>;
  readonly ends: readonly BodyEnd[];
}

function watched(): Watched {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller;
    },
  });
  const ends: BodyEnd[] = [];
  const { body: told } = watchBody(new Response(body), (end) => ends.push(end));
  if (told === null || source === undefined) throw new TypeError("There is no body.");
  return { reader: told.getReader(), source, ends };
}

test("a body that is read to its end is complete", async () => {
  const { reader, source, ends } = watched();
  source.enqueue(new Uint8Array([1]));
  expect(await reader.read()).toMatchObject({ done: false });
  expect(ends).toEqual([]);
  source.close();
  expect(await reader.read()).toMatchObject({ done: true });
  expect(ends).toEqual(["complete"]);
});

test("one that breaks off says why", async () => {
  const { reader, source, ends } = watched();
  source.error(new Error("lost"));
  await expect(reader.read()).rejects.toThrow("lost");
  expect(ends).toEqual([{ error: new Error("lost") }]);
});

test("a reader who leaves while more is awaited has left, and nothing went wrong", async () => {
  const { reader, ends } = watched();
  const awaited = reader.read();
  // By now the source itself is asked.
  await new Promise(setImmediate);
  await reader.cancel();
  expect(await awaited).toMatchObject({ done: true });
  await new Promise(setImmediate);
  expect(ends).toEqual(["abandoned"]);
});
