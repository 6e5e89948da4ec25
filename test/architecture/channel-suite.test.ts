import { expect, test } from "vitest";
import { readSource } from "./repository.ts";

const CHANNELS = ["slack", "email", "push", "webhook", "rooms", "siem"] as const;
type ChannelName = (typeof CHANNELS)[number];

/** The tests that prove a line for a channel, as `file > title`; or why the line does not apply to it. */
type Proof = readonly string[] | `n/a: ${string}`;

const OUTBOX = "src/channels/delivery.test.ts";
const CONTRACT = "src/channels/channel.contract.ts";
const SLACK = "src/channels/slack/slack-channel.test.ts";
const EMAIL = "src/channels/email/email-channel.test.ts";
const PUSH = "src/channels/push/push-channel.test.ts";
const WEBHOOK = "src/channels/webhook/webhook-channel.test.ts";
const ROOMS = "src/channels/room/room-channel.test.ts";
const SIEM = "src/channels/siem/siem.test.ts";
const ADDRESSES = "src/channels/public-address.test.ts";
const SLACK_ATTACKS = "test/attack/slack.test.ts";
const MAIL_ATTACKS = "test/attack/mail-links.test.ts";
const ANSWER_ATTACKS = "test/attack/webhook-answers.test.ts";
const KILLED = "test/e2e/deliveries/webhook.test.ts";

const NO_PEOPLE = "n/a: it reaches a room or a program, not people";
const NO_DOOR = "n/a: nobody can decide there";
const NO_TEXT = "n/a: it sends ids and no text";
const CONFIGURED = "n/a: its address comes from the operator, and redirects are not followed";

const TAKEN = `${OUTBOX} > a message that a process took and never finished is sent by another after its hold expires`;
const AGAIN = `${CONTRACT} > a notice that is told again has the same id, or does not arrive again`;
const UNSURE = `${CONTRACT} > a message of which nobody knows whether it arrived is found once, however often it is told again`;
const FAILS = `${CONTRACT} > a recipient that fails, is busy or is not there is an outcome with a reason that gives nothing away`;
const SILENT = `${CONTRACT} > a recipient that never answers is left when the signal says so`;
const ENDLESS = `${CONTRACT} > an answer that never ends is not waited for`;
const TWICE = `${CONTRACT} > a second answer is not taken for the answer to another message`;
const HIDDEN = `${CONTRACT} > what would hide or reorder text is written out`;
const LARGE = `${CONTRACT} > what does not fit arrives shortened, with the link to all of it`;
const SIEM_RETRIES = `${SIEM} > an address gets batches with the secret, and is tried again after 429, 5xx and no answer`;
const SIEM_CRASH = `${SIEM} > a process that dies at any write leaves no gap`;

/** Every requirement of all channels, and where each is proven. */
const SUITE: { readonly [line: string]: { readonly [channel in ChannelName]: Proof } } = {
  "a process is killed between commit and send": {
    slack: [
      TAKEN,
      "src/channels/slack/crash.test.ts > a process that dies at any write leaves one message per person",
    ],
    email: [
      TAKEN,
      "src/channels/email/crash.test.ts > a process that dies at any write leaves one mail per person and notice",
    ],
    push: [
      TAKEN,
      "src/channels/push/crash.test.ts > a process that dies at any write leaves one notification per device",
    ],
    webhook: [
      `${KILLED} > a process killed while it sends loses nothing: another sends the same message under the same id`,
    ],
    rooms: [TAKEN],
    siem: [SIEM_CRASH],
  },
  "a process is killed between send and note": {
    slack: [
      "src/channels/slack/crash.test.ts > a process that dies at any write leaves one message per person",
    ],
    email: [
      "src/channels/email/crash.test.ts > a process that dies at any write leaves one mail per person and notice",
    ],
    push: [
      "src/channels/push/crash.test.ts > a process that dies at any write leaves one notification per device",
    ],
    webhook: [
      `${KILLED} > a process killed after its message arrived, and before it knew, sends it again under the same id`,
    ],
    rooms:
      "n/a: the media have no place for an id, so a message whose answer is lost comes twice; the guide says so",
    siem: [SIEM_CRASH],
  },
  "duplicates are suppressed by key": {
    slack: [AGAIN, UNSURE],
    email: [AGAIN, UNSURE],
    push: [AGAIN, UNSURE],
    webhook: [AGAIN, UNSURE, `${WEBHOOK} > a notice that is told twice arrives twice, with one id`],
    rooms: [
      `${ROOMS} > PagerDuty has one incident per question: triggered while it waits, resolved when it is over`,
      `${ROOMS} > Opsgenie has one alert per question: open while it waits, closed when it is over`,
    ],
    siem: [SIEM_CRASH],
  },
  "429, 5xx and absence": {
    slack: [FAILS],
    email: [FAILS],
    push: [FAILS, `${PUSH} > a device that is busy names no time, and nobody else waits for it`],
    webhook: [FAILS],
    rooms: [FAILS],
    siem: [SIEM_RETRIES],
  },
  "timeouts and slow peers": {
    slack: [SILENT, ENDLESS],
    email: [
      SILENT,
      ENDLESS,
      `${EMAIL} > a mailbox without an answer does not keep the others waiting for ever, and they get one mail`,
    ],
    push: [
      SILENT,
      ENDLESS,
      `${PUSH} > a device that never answers is left after its time, and the others are told meanwhile`,
    ],
    webhook: [SILENT, ENDLESS, `${OUTBOX} > is left after a while, and the others are not held up for ever`],
    rooms: [SILENT, ENDLESS],
    siem: [SIEM_RETRIES],
  },
  "a peer that answers twice": {
    slack: [TWICE],
    email: [TWICE],
    push: [TWICE],
    webhook: [TWICE],
    rooms: [TWICE],
    siem: [`${SIEM} > a second answer is not taken for the answer to the next batch`],
  },
  "a recipient who is no longer an approver": {
    slack: [
      `${SLACK} > whoever is no longer an approver gets no reminder, and their card is kept current`,
      `${SLACK} > whoever is no longer configured gets no reminder, and their card is kept current`,
      `${SLACK_ATTACKS} > a person who is no longer configured cannot use the card that they still have`,
      `${SLACK_ATTACKS} > a person who is no longer an approver decides nothing with the card that they still have`,
    ],
    email: [
      `${EMAIL} > whoever is no longer an approver gets no reminder, and hears what became of it`,
      `${MAIL_ATTACKS} > who is no longer an approver decides nothing with the mail that they have, and that is journalled`,
    ],
    push: [
      `${PUSH} > whoever is no longer an approver gets no reminder, and the notification goes when it is decided`,
    ],
    webhook: [
      `${ANSWER_ATTACKS} > who is no longer an approver, or no longer configured, decides nothing with the value that they have`,
    ],
    rooms: NO_PEOPLE,
    siem: NO_PEOPLE,
  },
  "a message that somebody else edited": {
    slack: [
      `${SLACK_ATTACKS} > a message that somebody else edited, or that shows something else, approves nothing`,
    ],
    email: "n/a: a link shows the question from the ledger, whatever the mail says",
    push: NO_DOOR,
    webhook: [`${ANSWER_ATTACKS} > a value of another question or version, or none, decides nothing`],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "replayed and forged requests": {
    slack: [
      `${SLACK_ATTACKS} > forged and old requests are refused before anything is read`,
      `${SLACK_ATTACKS} > a request that is sent again decides the same and runs nothing twice`,
    ],
    email: [
      `${MAIL_ATTACKS} > a link is good for its own question, recipient and secret only`,
      `${MAIL_ATTACKS} > of two who use a link at once, one decides`,
    ],
    push: [
      `${PUSH} > agents, and people without the scope, have no devices; what is no subscription is refused`,
    ],
    webhook: [
      `${ANSWER_ATTACKS} > forged, altered, old and early requests are refused, and our own messages sent back to us`,
      `${ANSWER_ATTACKS} > a request that is sent again is answered again, and votes once`,
    ],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "the wrong workspace": {
    slack: [
      `${SLACK_ATTACKS} > another workspace, another app, and a guest of another workspace are refused`,
    ],
    email: "n/a: mail has no workspaces; pages of another origin are refused",
    push: [`${PUSH} > a device belongs to whoever is logged in there, and only they turn it off`],
    webhook: [
      `${ANSWER_ATTACKS} > forged, altered, old and early requests are refused, and our own messages sent back to us`,
    ],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a button copied elsewhere": {
    slack: [
      `${SLACK_ATTACKS} > a button counts only in the message that it was given to`,
      `${SLACK_ATTACKS} > a dialog counts only for the person who opened it, and for what it was opened for`,
    ],
    email: [`${MAIL_ATTACKS} > a page of another origin cannot use a link, though it knows it`],
    push: NO_DOOR,
    webhook: [`${ANSWER_ATTACKS} > a value of another question or version, or none, decides nothing`],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a forwarded mail": {
    slack: "n/a: a forwarded message has no buttons; a copied button is refused",
    email: [
      `${MAIL_ATTACKS} > whoever has a forwarded mail decides as its recipient: the rule's author has allowed that`,
    ],
    push: NO_DOOR,
    webhook: "n/a: an answer needs the receiver's own signature",
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "an endpoint inside the network (SSRF)": {
    slack: [`${SLACK_ATTACKS} > no address that a request names is ever called`],
    email: "n/a: nothing in a mail is fetched, and its server comes from the operator",
    push: [
      `${ADDRESSES} > a public name that leads to this machine leads nowhere`,
      `${PUSH} > a service that refuses the message is not asked again, and a redirect is not followed`,
    ],
    webhook: [`${WEBHOOK} > a redirect is not followed`],
    rooms: [`${ROOMS} > a redirect is not followed, and a connection that others can read is refused`],
    siem: CONFIGURED,
  },
  "a card that does not fit": {
    slack: [LARGE, `${SLACK_ATTACKS} > %s cannot be approved here, whatever button is sent`],
    email: [LARGE],
    push: [LARGE],
    webhook: [LARGE],
    rooms: [LARGE],
    siem: [`${SIEM} > a batch that is too large is halved`],
  },
  "right-to-left and mention tricks": {
    slack: [
      HIDDEN,
      `${SLACK_ATTACKS} > what a model wrote is plain text: no mention, no markup, nothing hidden or reordered`,
    ],
    email: [HIDDEN, `${EMAIL} > no text of a stranger makes a header, a recipient, markup or a line of ours`],
    push: NO_TEXT,
    webhook: [`${WEBHOOK} > the body says what happened as data, without results, payloads and rights`],
    rooms: [
      HIDDEN,
      `${ROOMS} > Teams gets an adaptive card whose texts have no markup, and a button that opens the inbox`,
      `${ROOMS} > Discord mentions nobody and reads no markup of strangers`,
      `${ROOMS} > Telegram gets text in which strangers' words are preformatted`,
    ],
    siem: "n/a: programs read JSON lines, in which texts are data",
  },
  "10,000 odd requests at each inbound door": {
    slack: [
      "test/fuzz/slack.test.ts > requests with odd contents decide nothing, and none is answered with a 5xx",
    ],
    email: [
      "test/fuzz/mail-links.test.ts > odd uses of links decide nothing, show nothing, and none is answered with a 5xx",
    ],
    push: [
      "test/fuzz/push.test.ts > odd subscriptions decide nothing, name no private address, and none is answered with a 5xx",
    ],
    webhook: [
      "test/fuzz/webhook-answers.test.ts > signed requests with odd contents decide nothing, and none is answered with a 5xx",
    ],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
};

const CELLS = Object.entries(SUITE).flatMap(([line, proofs]) =>
  CHANNELS.map((channel) => [channel, line, proofs[channel]] as const),
);

test.each(CELLS)("%s: %s", (_channel, _line, proof) => {
  if (typeof proof === "string") {
    expect(proof.length).toBeGreaterThan("n/a: ".length);
    return;
  }
  expect(proof.length).toBeGreaterThan(0);
  for (const named of proof) {
    const [file = "", title = ""] = named.split(" > ");
    expect(title).not.toBe("");
    const { text } = readSource(file);
    expect(text, file).toContain(title);
    // A test that does not run proves nothing.
    expect(text, file).not.toMatch(/\b(test|describe|it)\.(skip|todo|only|skipIf|runIf)\b/);
  }
});

test.each(["slack/slack", "email/email", "push/push", "webhook/webhook", "room/room"])(
  "%s runs the contract suite",
  (name) => {
    expect(readSource(`src/channels/${name}-channel.test.ts`).text).toContain("test.each(channelContract)");
  },
);

test.each(["slack", "mail-links", "push", "webhook-answers"])(
  "the door of %s gets 10,000 requests",
  (name) => {
    expect(readSource(`test/fuzz/${name}.test.ts`).text).toContain("const REQUESTS = 10_000;");
  },
);
