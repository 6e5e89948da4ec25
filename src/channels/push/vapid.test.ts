import { createVerify } from "node:crypto";
import { importJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import webpush from "web-push";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { vapidHeader, vapidKey } from "./vapid.ts";

const resources = useResources();
const NOW = Date.UTC(2026, 0, 1);
const HEADER = /^vapid t=([^,]+), k=(.+)$/;

function jwkOf(publicKey: string): { readonly [member: string]: string } {
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  return { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" };
}

test("many processes that start at once have one key, and so has the next", async () => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const keys = await Promise.all(Array.from({ length: 10 }, () => vapidKey(ledger.items)));
  keys.push(await vapidKey(ledger.items));
  expect(new Set(keys.map(({ publicKey }) => publicKey)).size).toBe(1);
});

test("the header proves who sends, to one service, for half a day", async () => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const key = await vapidKey(ledger.items);
  const contact = "mailto:ops@example.com";
  const [, token = "", publicKey = ""] =
    HEADER.exec(vapidHeader(key, { origin: "https://push.example", contact, now: NOW })) ?? [];
  expect(publicKey).toBe(key.publicKey);
  const { payload } = await jwtVerify(token, await importJWK(jwkOf(publicKey), "ES256"), {
    audience: "https://push.example",
    currentDate: new Date(NOW),
  });
  expect(payload).toEqual({ aud: "https://push.example", sub: contact, exp: NOW / 1_000 + 43_200 });
});

test("the library that others use accepts the key and makes a header of the same form", async () => {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  const { publicKey, privateKey } = await vapidKey(ledger.items);
  const { d = "" } = privateKey.export({ format: "jwk" });
  const { Authorization: theirs } = webpush.getVapidHeaders(
    "https://push.example",
    "mailto:ops@example.com",
    publicKey,
    d,
    "aes128gcm",
  );
  const [, token = "", named] = HEADER.exec(theirs) ?? [];
  expect(named).toBe(publicKey);
  const [head, body, signature = ""] = token.split(".");
  const isOurs = createVerify("sha256")
    .update(`${head}.${body}`)
    .verify(
      { key: jwkOf(publicKey), format: "jwk", dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
  expect(isOurs).toBe(true);
});
