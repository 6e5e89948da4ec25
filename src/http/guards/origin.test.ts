import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { checkOrigin, type OriginOptions, originOf } from "./origin.ts";

const CLOSED: OriginOptions = { publicUrl: undefined, allowOrigins: [] };
const OPEN: OriginOptions = { ...CLOSED, allowOrigins: ["https://ui.test"] };

function request(headers: Record<string, string>, method = "POST"): Request {
  return new Request("http://localhost:8000/run", {
    method,
    headers: { host: "localhost:8000", ...headers },
  });
}

async function send(options: OriginOptions, sent: Request): Promise<Response> {
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  app.use(checkOrigin(options));
  app.all("*", (context) => context.json({ ran: true }));
  return app.request(sent);
}

test.each<[string, Record<string, string>, OriginOptions, string]>([
  ["no browser", {}, CLOSED, "own"],
  ["our own page", { origin: "http://localhost:8000", "sec-fetch-site": "same-origin" }, CLOSED, "own"],
  [
    "a page of another port",
    { origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
    CLOSED,
    "foreign",
  ],
  ["a page elsewhere", { origin: "https://evil.test" }, CLOSED, "foreign"],
  ["a page whose name begins like ours", { origin: "http://localhost:8000.evil.test" }, CLOSED, "foreign"],
  ["a sandboxed frame", { origin: "null" }, CLOSED, "foreign"],
  ["nonsense", { origin: "::" }, CLOSED, "foreign"],
  [
    "an image on a page elsewhere",
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    CLOSED,
    "foreign",
  ],
  ["an allowed page", { origin: "https://ui.test", "sec-fetch-site": "cross-site" }, OPEN, "allowed"],
  ["another page where one is allowed", { origin: "https://ui.test.evil" }, OPEN, "foreign"],
  [
    "our name behind TLS",
    { origin: "https://corp.test", host: "corp.test" },
    { ...CLOSED, publicUrl: "https://corp.test" },
    "own",
  ],
  [
    "our name without TLS",
    { origin: "http://corp.test", host: "corp.test" },
    { ...CLOSED, publicUrl: "https://corp.test" },
    "foreign",
  ],
])("%s", (_, headers, options, from) => {
  expect(originOf(request(headers), options)).toBe(from);
});

test.each(["POST", "PUT", "PATCH", "DELETE"])(
  "a foreign page's %s is refused before anything runs",
  async (method) => {
    const answer = await send(CLOSED, request({ origin: "https://evil.test" }, method));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "foreign-origin" });
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  },
);

test("a foreign page's preflight is refused, and what it could read says no origin", async () => {
  const headers = { origin: "https://evil.test", "access-control-request-method": "POST" };
  expect((await send(CLOSED, request(headers, "OPTIONS"))).status).toBe(403);
  const read = await send(CLOSED, request({ origin: "https://evil.test" }, "GET"));
  expect(read.headers.has("access-control-allow-origin")).toBe(false);
});

test("an allowed page gets its preflight answered and may read answers, refusals included", async () => {
  const asked = {
    origin: "https://ui.test",
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type",
  };
  const preflight = await send(OPEN, request(asked, "OPTIONS"));
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toEqual({
    "access-control-allow-origin": "https://ui.test",
    "access-control-allow-methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
    "access-control-allow-headers": "content-type",
    vary: "Origin, Access-Control-Request-Headers",
  });
  const answer = await send(OPEN, request({ origin: "https://ui.test" }));
  expect(answer.headers.get("access-control-allow-origin")).toBe("https://ui.test");
  expect(answer.headers.get("vary")).toBe("Origin");
  // A cookie never counts on another origin, so nothing asks browsers to send one.
  expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
});

test("where all pages are allowed the answer says so, as recorded of the ADK's server", async () => {
  const answer = await send({ ...CLOSED, allowOrigins: ["*"] }, request({ origin: "http://ui.test" }, "GET"));
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
});
