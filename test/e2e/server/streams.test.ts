import { expect, test } from "vitest";
import { RawSocket } from "../../support/http/raw-socket.ts";
import type { Child } from "../../support/processes/child.ts";
import { useResources } from "../../support/resources.ts";
import type { StreamsLine, StreamsMessage, StreamsOptions } from "./streams.program.ts";

const resources = useResources();
const PROGRAM = new URL("streams.program.ts", import.meta.url);

interface Feed {
  readonly child: Child<StreamsLine>;
  readonly port: number;
  publish(text: string): void;
  /** Bytes in use after a collection of garbage. */
  memory(): Promise<number>;
}

async function startFeed(feed: StreamsOptions["feed"]): Promise<Feed> {
  const child = resources.child<StreamsLine>(PROGRAM, { args: [JSON.stringify({ feed })] });
  const { port } = await child.line("ready");
  const tell = (message: StreamsMessage): void => child.send(message);
  return {
    child,
    port,
    publish: (text) => tell({ type: "publish", text }),
    memory: async () => {
      tell({ type: "measure" });
      return (await child.line("memory")).bytes;
    },
  };
}

/** Each reader is somebody else: one person may have only so many streams. */
async function read(port: number, name: string): Promise<RawSocket> {
  const socket = await RawSocket.open(port);
  resources.add(() => socket.close());
  socket.send(`GET /v1/confirmations/stream HTTP/1.1\r\nHost: localhost\r\nx-as: ${name}\r\n\r\n`);
  return socket;
}

async function readMany(port: number, count: number): Promise<readonly RawSocket[]> {
  const readers: RawSocket[] = [];
  while (readers.length < count) {
    const some = Array.from({ length: Math.min(100, count - readers.length) }, (_, i) =>
      read(port, `reader-${readers.length + i}`),
    );
    readers.push(...(await Promise.all(some)));
  }
  await Promise.all(readers.map((reader) => reader.until("\r\n\r\n")));
  return readers;
}

test.each(["bare", "approvals"] as const)(
  "a thousand streams of the %s feed on one process each get an event, for a few kilobytes apiece",
  async (kind) => {
    const feed = await startFeed(kind);
    const before = await feed.memory();
    const readers = await readMany(feed.port, 1_000);
    const each = ((await feed.memory()) - before) / 1_000;
    feed.publish("to-all");
    await Promise.all(readers.map((reader) => reader.until("to-all")));
    expect(each).toBeLessThan(64 * 1024);
  },
);

test("a reader that takes nothing is cut off, and the others lose nothing", async () => {
  const feed = await startFeed("bare");
  const [lazy, ...others] = await readMany(feed.port, 20);
  if (lazy === undefined) throw new Error("there is no first reader");
  lazy.socket.pause();
  // More than the system's own buffers hold, so that the server has to wait for its reader.
  for (let n = 1; n <= 400; n++) {
    feed.publish(`${"x".repeat(100_000)} #${n}.`);
    await Promise.all(others.map((reader) => reader.until(`#${n}.`)));
    for (const reader of others) reader.forget();
  }
  expect((await feed.child.line("gone")).count).toBe(19);
  feed.publish("after");
  await Promise.all(others.map((reader) => reader.until("data: after\n\n")));
});
