import { createECDH } from "node:crypto";
import ece from "http_ece";
import { expect, test } from "vitest";
import webpush from "web-push";
import { createDevice } from "../../../test/support/push/device.ts";
import { encryptPush, readDeviceKeys } from "./encrypt.ts";

// RFC 8291, section 5 and appendix A.
const RFC = {
  plain: "When I grow up, I want to be a watermelon",
  senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  devicePrivate: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  devicePublic: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  message:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

test("the published message is made byte by byte, and read", () => {
  const sender = createECDH("prime256v1");
  sender.setPrivateKey(Buffer.from(RFC.senderPrivate, "base64url"));
  const keys = readDeviceKeys(RFC.devicePublic, RFC.auth);
  if (keys === undefined) throw new Error("The published keys are keys.");
  const salt = Buffer.from(RFC.salt, "base64url");
  expect(encryptPush(Buffer.from(RFC.plain), keys, { sender, salt }).toString("base64url")).toBe(RFC.message);
  const device = createDevice("", { privateKey: RFC.devicePrivate, auth: RFC.auth });
  expect(device.subscription.keys.p256dh).toBe(RFC.devicePublic);
  expect(device.read(Buffer.from(RFC.message, "base64url"))).toBe(RFC.plain);
});

test("the library that others use reads ours, and ours for tests reads the library's", () => {
  const receiver = createECDH("prime256v1");
  receiver.generateKeys();
  const device = createDevice("", { privateKey: receiver.getPrivateKey("base64url"), auth: RFC.auth });
  const { p256dh, auth } = device.subscription.keys;
  const keys = readDeviceKeys(p256dh, auth);
  if (keys === undefined) throw new Error("These are keys.");
  for (const text of ["", "{}", "ü".repeat(1_000)]) {
    const ours = encryptPush(Buffer.from(text), keys);
    const read = ece.decrypt(ours, { version: "aes128gcm", privateKey: receiver, authSecret: auth });
    expect(read.toString()).toBe(text);
    expect(device.read(ours)).toBe(text);
  }
  const theirs = webpush.encrypt(p256dh, auth, "hello", "aes128gcm");
  expect(device.read(theirs.cipherText)).toBe("hello");
});

test("two messages are never the same, and another device reads neither", () => {
  const [device, other] = [createDevice(""), createDevice("")];
  const { p256dh, auth } = device.subscription.keys;
  const keys = readDeviceKeys(p256dh, auth);
  if (keys === undefined) throw new Error("These are keys.");
  const [one, two] = [encryptPush(Buffer.from("a"), keys), encryptPush(Buffer.from("a"), keys)];
  expect(one.equals(two)).toBe(false);
  expect(() => other.read(one)).toThrow(/authenticate/);
});

test.each([
  ["", RFC.auth],
  [RFC.devicePublic, ""],
  [RFC.devicePublic, `${RFC.auth}AAAA`],
  [`${RFC.devicePublic.slice(0, -3)}AAA`, RFC.auth],
  [Buffer.alloc(65, 4).toString("base64url"), RFC.auth],
])("keys that are no keys are not taken: %j %j", (p256dh, auth) => {
  expect(readDeviceKeys(p256dh, auth)).toBeUndefined();
});
