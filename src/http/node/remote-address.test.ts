import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { originOf } from "./remote-address.ts";

function address(proxies: number, forwarded: string | undefined, socket = "10.0.0.9"): string | undefined {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const incoming = { headers, socket: { remoteAddress: socket } } as unknown as IncomingMessage;
  return originOf(incoming, proxies).remoteAddress;
}

test.each<[number, string | undefined, string]>([
  [0, "6.6.6.6", "10.0.0.9"],
  [1, undefined, "10.0.0.9"],
  [1, "6.6.6.6, 192.0.2.1", "192.0.2.1"],
  [2, "6.6.6.6, 192.0.2.1, 10.0.0.1", "192.0.2.1"],
  // It did not come by both of them: whoever wrote this may be anybody.
  [2, "6.6.6.6", "10.0.0.9"],
  [1, "192.0.2.1:4711", "192.0.2.1"],
  [1, "[2001:db8::1]:4711", "2001:db8::1"],
  [1, "[2001:db8::1]", "2001:db8::1"],
  [1, "6.6.6.6, 2001:db8::1", "2001:db8::1"],
  // Not an address, so nobody's word for one.
  [1, "192.0.2.1, unknown", "10.0.0.9"],
  [1, "192.0.2.1,", "10.0.0.9"],
  [1, "192.0.2.1; x", "10.0.0.9"],
])("behind %i proxies, %s comes from %s", (proxies, forwarded, expected) => {
  expect(address(proxies, forwarded)).toBe(expected);
});
