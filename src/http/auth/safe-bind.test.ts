import { expect, test } from "vitest";
import { assertSafeBind } from "./safe-bind.ts";

test.each(["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])("without a login %s will do", (host) => {
  expect(() => assertSafeBind(host, { name: "none" })).not.toThrow();
});

test.each(["0.0.0.0", "::", "", "192.168.1.4", "approvals.corp", "127.0.0.1.evil.test"])(
  'without a login "%s" is refused, and with one it is not',
  (host) => {
    expect(() => assertSafeBind(host, { name: "none" })).toThrow("on loopback only");
    for (const name of ["local", "tokens", "oidc", "host"] as const)
      expect(() => assertSafeBind(host, { name })).not.toThrow();
  },
);

test("without a login there is no public address either", () => {
  expect(() => assertSafeBind("127.0.0.1", { name: "none" }, "https://approvals.corp")).toThrow("use --auth");
  expect(() => assertSafeBind("127.0.0.1", { name: "none" }, "http://localhost:8000")).not.toThrow();
});
