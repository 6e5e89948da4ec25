import { expect, test } from "vitest";
import { isPublicAddress, isPublicUrl, lookupPublic } from "./public-address.ts";

test.each([
  "127.0.0.1",
  "10.1.2.3",
  "100.64.0.1",
  "169.254.169.254",
  "172.31.255.255",
  "192.168.1.1",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "fe80::1",
  "fc00::1",
  "2002:7f00:1::",
  "2001::1",
  "2001:db8::1",
  "localhost",
  "",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"])(
  "%s is public",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  "http://push.example/x",
  "https://push.example:8443/x",
  "https://user@push.example/x",
  "https://:pw@push.example/x",
  "https://127.0.0.1/x",
  "https://2130706433/x",
  "https://0x7f.1/x",
  "https://[::1]/x",
  "https://8.8.8.8/x",
  "https://localhost/x",
  "https://metadata/x",
  "file:///etc/passwd",
  "ftp://push.example/x",
])("%s is no public address", (url) => {
  expect(isPublicUrl(new URL(url))).toBe(false);
});

test("a public name that leads to this machine leads nowhere", async () => {
  expect(isPublicUrl(new URL("https://push.example/x"))).toBe(true);
  for (const all of [true, false]) {
    const code = await new Promise((resolve) => {
      lookupPublic("localhost", { all }, (error) => resolve(error?.code));
    });
    expect(code).toBe("ENOTPUBLIC");
  }
});
