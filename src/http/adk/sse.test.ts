import { expect, test } from "vitest";
import type { Event } from "../../protocol/index.ts";
import { toSse } from "./sse.ts";

interface Source {
  readonly events: AsyncGenerator<Event>;
  readonly given: () => number;
  readonly left: Promise<void>;
}

function source(count: number): Source {
  const left = Promise.withResolvers<void>();
  let given = 0;
  async function* run(): AsyncGenerator<Event> {
    try {
      for (; given < count; ) {
        given += 1;
        yield { id: `${given}`, invocationId: "i", author: "a", timestamp: 1, actions: {} };
      }
    } finally {
      left.resolve();
    }
  }
  return { events: run(), given: () => given, left: left.promise };
}

async function* failing(): AsyncGenerator<Event> {
  yield { id: "1", invocationId: "i", author: "a", timestamp: 1, actions: {} };
  throw new Error("lost");
}

const silent = (): string => "";

test("the first event is asked for before anybody reads", async () => {
  const { events, given } = source(3);
  const stream = toSse(events, silent);
  await new Promise(setImmediate);
  expect(given()).toBe(1);
  await stream.cancel();
});

test("no more is asked for than the reader takes, and one ahead", async () => {
  const { events, given } = source(100);
  const reader = toSse(events, silent).getReader();
  for (let read = 1; read <= 5; read++) {
    await reader.read();
    // What was asked for ahead is there as soon as the microtasks before it are done.
    await new Promise(setImmediate);
    expect(given()).toBe(read + 1);
  }
  await reader.cancel();
});

test("a reader who leaves ends the watching, and nothing else", async () => {
  const { events, left } = source(100);
  const reader = toSse(events, silent).getReader();
  await reader.read();
  await reader.cancel();
  await expect(left).resolves.toBeUndefined();
});

test("what goes wrong is the last chunk", async () => {
  const text = await new Response(
    toSse(failing(), (error) => `data: {"error":"${String(error)}"}\n\n`),
  ).text();
  expect(text.split("\n\n")).toEqual([
    expect.stringContaining('"id":"1"'),
    'data: {"error":"Error: lost"}',
    "",
  ]);
});
