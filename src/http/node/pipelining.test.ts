import { expect, test } from "vitest";
import { RawSocket } from "../../../test/support/http/raw-socket.ts";
import { useResources } from "../../../test/support/resources.ts";
import { serve } from "./server.ts";

const resources = useResources();
const REQUEST = "GET /mine HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

/** A server that notes the path of every request when it answers it. */
async function start() {
  const answered: string[] = [];
  const fetch = async ({ url }: Request): Promise<Response> => {
    const { pathname } = new URL(url);
    answered.push(pathname);
    return new Response(pathname);
  };
  const server = await serve({ app: { fetch }, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  const open = async (): Promise<RawSocket> => {
    const socket = await RawSocket.open(server.port);
    resources.add(async () => socket.close());
    return socket;
  };
  return { answered, open };
}

test("requests that are sent at once on one connection let others be answered in between", async () => {
  const { answered, open } = await start();
  const [many, other] = [await open(), await open()];
  many.send(REQUEST.repeat(90) + REQUEST.replace("mine", "last"));
  other.send(REQUEST.replace("mine", "other"));
  await Promise.all([other.until("/other"), many.until("/last")]);
  expect(answered.at(-1)).toBe("/last");
});

test("a connection with very many requests behind one another is closed", async () => {
  const { answered, open } = await start();
  const socket = await open();
  socket.send(REQUEST.repeat(5_000));
  await socket.closed;
  expect(answered.length).toBeLessThan(1_000);
});
