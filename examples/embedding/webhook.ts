// A webhook receiver: checks that a message is from the server and recent.

// #region verify
import { createHmac, timingSafeEqual } from "node:crypto";

/** Is this body from the server that has the secret (`whsec_…`), and not older than five minutes? */
function isGenuine(secret: string, headers: Headers, body: string): boolean {
  const [id, at] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const ours = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest();
  return (headers.get("webhook-signature") ?? "").split(" ").some((each) => {
    const theirs = Buffer.from(each.replace("v1,", ""), "base64");
    return theirs.length === ours.length && timingSafeEqual(theirs, ours);
  });
}

// #endregion

import assert from "node:assert/strict";
import { newWebhookSecret, parseWebhookSecret, signWebhook } from "../../src/channels/webhook/index.ts";

const secret = newWebhookSecret();
const body = `{"type":"confirmation.requested"}`;
const timestamp = Math.floor(Date.now() / 1000);
const signed = (at: number): Headers =>
  new Headers({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(at),
    "webhook-signature": signWebhook({ id: "msg_1", timestamp: at, body }, [parseWebhookSecret(secret)]),
  });
assert.equal(isGenuine(secret, signed(timestamp), body), true);
assert.equal(isGenuine(secret, signed(timestamp), `${body} `), false);
assert.equal(isGenuine(newWebhookSecret(), signed(timestamp), body), false);
assert.equal(isGenuine(secret, signed(timestamp - 600), body), false);
