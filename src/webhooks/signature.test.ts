import { expect, test } from "vitest";
import { newWebhookSecret, parseWebhookSecret, signWebhook } from "./signature.ts";

test("a signature is the one that the reference libraries of Standard Webhooks compute", () => {
  const key = parseWebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  const message = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  };
  expect(signWebhook(message, [key])).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("a new secret can be read, with and without its prefix, and is never the same", () => {
  const secret = newWebhookSecret();
  expect(parseWebhookSecret(secret)).toEqual(parseWebhookSecret(secret.replace("whsec_", "")));
  expect(newWebhookSecret()).not.toBe(secret);
});

test.each(["", "whsec_", "whsec_short", "whsec_not base64 at all, not at all", `whsec_${"A".repeat(100)}`])(
  "the secret %j is refused and not repeated",
  (secret) => {
    const refused = (): unknown => parseWebhookSecret(secret);
    expect(refused).toThrow(expect.objectContaining({ code: "invalid-option" }));
    if (secret.length > 6) expect(refused).not.toThrow(secret.slice(6));
  },
);
