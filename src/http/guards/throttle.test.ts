import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { secureAnswers } from "./security-headers.ts";
import { throttleFailures } from "./throttle.ts";
import { TokenBuckets } from "./token-buckets.ts";

function makeApp(
  perMinute: number,
): (from: string | undefined, headers?: Record<string, string>) => Promise<Response> {
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  app.use(secureAnswers(undefined));
  const buckets = () => new TokenBuckets(perMinute, () => 0);
  const failures = { addresses: buckets(), tokens: buckets() };
  app.use(throttleFailures(failures, (path) => path === "/auth/login"));
  app.get("*", (context) =>
    context.body(null, context.req.header("authorization") === "Bearer right" ? 204 : 401),
  );
  return async (remoteAddress, headers = {}) =>
    app.request("http://localhost/v1", { headers }, remoteAddress === undefined ? {} : { remoteAddress });
}

const WRONG = { authorization: "Bearer wrong" };

test("failures are counted by address, and a request without a credential is not a failure", async () => {
  const get = makeApp(1);
  expect((await get("10.0.0.1", WRONG)).status).toBe(401);
  const late = await get("10.0.0.1", WRONG);
  expect([late.status, late.headers.get("retry-after")]).toEqual([429, "60"]);
  expect((await get("10.0.0.2", WRONG)).status).toBe(401);
  expect((await get("10.0.0.1")).status).toBe(401);
  expect((await get("10.0.0.1", { authorization: "Bearer right" })).status).toBe(204);
});

test("without an address nobody is made to wait for somebody else's failures", async () => {
  const get = makeApp(1);
  for (let tries = 0; tries < 5; tries += 1) expect((await get(undefined, WRONG)).status).toBe(401);
});
