import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { SILENT } from "../log.ts";
import { onError } from "../problems.ts";
import { checkHost, type HostOptions } from "./host.ts";

const NONE: HostOptions = {
  auth: { name: "none" },
  publicUrl: undefined,
  allowedHosts: [],
  exempt: (path) => path === "/healthz",
};
const PUBLIC: HostOptions = {
  ...NONE,
  auth: { name: "tokens" },
  publicUrl: "https://approvals.corp/inbox",
  allowedHosts: ["pod.internal:8000"],
};

async function statusFor(options: HostOptions, host: string, path = "/v1"): Promise<number> {
  const app = new Hono<HttpEnv>().onError(onError(SILENT));
  app.use(checkHost(options));
  app.all("*", (context) => context.body(null, 204));
  return (await app.request(`http://127.0.0.1${path}`, { headers: { host } })).status;
}

test.each([
  "localhost",
  "localhost:8000",
  "127.0.0.1:8000",
  "127.9.9.9",
  "[::1]:8000",
  "LOCALHOST.",
  "app.localhost",
])("without a login %s is this machine", async (host) => {
  expect(await statusFor(NONE, host)).toBe(204);
});

test.each([
  "evil.test",
  "evil.test:8000",
  "127.0.0.1.evil.test",
  "localhost.evil.test",
  "0.0.0.0",
  "192.168.1.4",
  "",
  "a b",
  "localhost@evil.test",
])('without a login a name that was pointed here, "%s", is answered 421', async (host) => {
  expect(await statusFor(NONE, host)).toBe(421);
});

test("with a login the public name and the allowed ones are answered, and loopback is not one of them", async () => {
  expect(await statusFor(PUBLIC, "approvals.corp")).toBe(204);
  expect(await statusFor(PUBLIC, "pod.internal")).toBe(204);
  for (const host of ["evil.test", "approvals.corp.evil.test", "localhost"])
    expect(await statusFor(PUBLIC, host), host).toBe(421);
});

test("with a login and no public name every name will do, since the credential is what counts", async () => {
  expect(await statusFor({ ...PUBLIC, publicUrl: undefined, allowedHosts: [] }, "10.0.0.7")).toBe(204);
});

test("a probe asks by address", async () => {
  expect(await statusFor(PUBLIC, "10.0.0.7:8000", "/healthz")).toBe(204);
});
