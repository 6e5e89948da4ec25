import { expect, test } from "vitest";
import { callerAt } from "./caller-address.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:192.0.2.1", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:0DB8:0001:0002:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8::", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["1::192.0.2.1", "1:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["what a host says", "what a host says"],
])("%s is told apart as %s", (address, caller) => {
  expect(callerAt(address)).toBe(caller);
});

test("a long text costs no more than a short one", () => {
  expect(callerAt("x".repeat(10_000))).toHaveLength(64);
});
