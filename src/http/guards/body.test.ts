import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { readBody } from "./body.ts";
import { needJson } from "./content-type.ts";

const LIMITS = { maxBytes: 1_000, timeoutMs: 60_000 };
const JSON_TYPE = { "content-type": "application/json" };

async function send(
  body: RequestInit["body"],
  { headers = JSON_TYPE, limits = LIMITS }: { headers?: Record<string, string>; limits?: typeof LIMITS } = {},
): Promise<{ readonly status: number; readonly answer: unknown }> {
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  app.use(needJson(() => false));
  app.use(readBody(limits));
  app.post("*", async (context) => context.json({ read: await context.req.text() }));
  const init = { method: "POST", headers, ...(body === null ? {} : { body, duplex: "half" as const }) };
  const response = await app.request(new Request("http://localhost/", init as RequestInit));
  return { status: response.status, answer: await response.json() };
}

/** A body in pieces, that says of itself how many were taken. */
function pieces(
  count: number,
  piece: string,
): { readonly stream: ReadableStream<Uint8Array>; readonly taken: () => number } {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        taken += 1;
        if (taken > count) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => taken };
}

test("a route reads the body as it was sent", async () => {
  expect(await send(`{"a": "ü"}`)).toEqual({ status: 200, answer: { read: `{"a": "ü"}` } });
  expect(await send(pieces(3, "[]".slice(0, 1)).stream)).toMatchObject({ status: 400 });
});

test("a write without a body needs no type, and a body without a type is refused", async () => {
  expect(await send(null, { headers: {} })).toEqual({ status: 200, answer: { read: "" } });
  expect(await send(new TextEncoder().encode("{}"), { headers: {} })).toMatchObject({
    status: 415,
    answer: { code: "unsupported-media-type" },
  });
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "",
])('a body of type "%s", which any page can send, is refused unread', async (type) => {
  expect(await send("{}", { headers: { "content-type": type } })).toMatchObject({ status: 415 });
});

test.each(["application/json", "Application/JSON; charset=utf-8", "application/a2a+json"])(
  "%s is JSON",
  async (type) => {
    expect(await send("{}", { headers: { "content-type": type } })).toMatchObject({ status: 200 });
  },
);

test("a body that says it is too large is refused before a byte is read", async () => {
  const { stream, taken } = pieces(1, "{}");
  const headers = { ...JSON_TYPE, "content-length": "1001" };
  expect(await send(stream, { headers })).toMatchObject({ status: 413, answer: { code: "too-large" } });
  expect(taken()).toBe(0);
});

test("a body in pieces, or one that lies about its length, is read up to the limit and no further", async () => {
  for (const headers of [JSON_TYPE, { ...JSON_TYPE, "content-length": "2" }]) {
    const { stream, taken } = pieces(1_000_000, "x".repeat(300));
    expect(await send(stream, { headers })).toMatchObject({ status: 413 });
    expect(taken()).toBe(4);
  }
});

test("a body that does not arrive is refused after a timeout", async () => {
  const stalled = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const limits = { ...LIMITS, timeoutMs: 10 };
  expect(await send(stalled, { limits })).toMatchObject({ status: 408, answer: { code: "too-slow" } });
});

test("a body whose sender goes away is no fault of ours", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("reset")),
  });
  expect(await send(broken)).toMatchObject({ status: 422, answer: { code: "malformed-request" } });
});

test.each([
  ["not JSON", "{"],
  ["nested too deeply", `${"[".repeat(200)}${"]".repeat(200)}`],
  ["with a lone surrogate", `"\\ud800"`],
])("a body %s is told as the client's mistake", async (_, text) => {
  expect(await send(text)).toMatchObject({ status: 400, answer: { code: "malformed-json" } });
});

test("a member that is named twice is refused, whichever way it is spelled, and its place is told", async () => {
  const text = String.raw`{"decisions":[{"confirmed":false,"\u0063onfirmed":true}]}`;
  expect(await send(text)).toMatchObject({
    status: 400,
    answer: { code: "malformed-json", field: "decisions[0].confirmed" },
  });
});

test("bytes that are not UTF-8 are the client's mistake", async () => {
  expect(await send(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({ status: 400 });
});
