import { Hono } from "hono";
import { expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { nameRequest } from "./request-id.ts";
import { secureAnswers } from "./security-headers.ts";

async function get(
  path: string,
  { publicUrl, id }: { publicUrl?: string; id?: string } = {},
): Promise<Response> {
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  app.use(nameRequest);
  app.use(secureAnswers(publicUrl));
  app.get("/data", (context) => context.json({ name: context.get("requestId") }));
  app.get(
    "/page",
    () =>
      new Response("", {
        headers: { "content-security-policy": "script-src 'self'", "cache-control": "no-cache" },
      }),
  );
  app.get("/away", () => Response.redirect("http://localhost/data"));
  app.get("/stranger", () => {
    throw new CountersignError("unauthenticated", "Who?");
  });
  return app.request(path, { headers: id === undefined ? {} : { "x-request-id": id } });
}

test("an answer of the API may be neither run, framed, sniffed nor cached", async () => {
  const { headers } = await get("/data");
  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(headers.has("strict-transport-security")).toBe(false);
});

test("what a page says of itself stays", async () => {
  const { headers } = await get("/page");
  expect(headers.get("content-security-policy")).toBe("script-src 'self'");
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(headers.get("x-frame-options")).toBe("DENY");
});

test("an answer that cannot be changed, and one to nobody, have the headers too", async () => {
  const away = await get("/away");
  expect(away.status).toBe(302);
  expect(away.headers.get("location")).toBe("http://localhost/data");
  expect(away.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await get("/nowhere")).headers.get("x-content-type-options")).toBe("nosniff");
});

test("over TLS browsers are told to stay with it", async () => {
  const { headers } = await get("/data", { publicUrl: "https://corp.test" });
  expect(headers.get("strict-transport-security")).toMatch(/^max-age=\d{7,}/);
});

test("an unknown caller is told how to authenticate", async () => {
  const answer = await get("/stranger");
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe(`Bearer realm="countersign"`);
});

test("a request keeps the plain name it came with, and gets another one for any other", async () => {
  const kept = await get("/data", { id: "trace-0001" });
  expect(kept.headers.get("x-request-id")).toBe("trace-0001");
  expect(await kept.json()).toEqual({ name: "trace-0001" });
  for (const id of ["short", "x".repeat(200), "with space!", "<script>alert"]) {
    const named = (await get("/data", { id })).headers.get("x-request-id");
    expect(named).toMatch(/^[\da-f-]{36}$/);
  }
});

test("a problem carries the request's name", async () => {
  expect(await (await get("/stranger", { id: "trace-0002" })).json()).toMatchObject({
    requestId: "trace-0002",
  });
});
