import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT, readSource } from "./repository.ts";

const CHANNELS = ["slack", "email", "push", "webhook", "rooms", "siem"] as const;
type ChannelName = (typeof CHANNELS)[number];

/** The tests that prove a line for a channel, as `file > title`; or why the line does not apply to it. */
type Proof = readonly string[] | `n/a: ${string}`;

const OUTBOX = "src/channels/delivery.test.ts";
const CONTRACT = "src/channels/channel.contract.ts";
const INBOUND = "src/channels/inbound.contract.ts";
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
const OVER = `${CONTRACT} > a reminder and an escalation that wait to be sent reach nobody once the question is over`;
const FAILS = `${CONTRACT} > a recipient that fails, is busy or is not there is an outcome with a reason that gives nothing away`;
const SILENT = `${CONTRACT} > a recipient that never answers is left when the signal says so`;
const ENDLESS = `${CONTRACT} > an answer that never ends is not waited for`;
const TWICE = `${CONTRACT} > a second answer is not taken for the answer to another message`;
const HIDDEN = `${CONTRACT} > what would hide or reorder text is written out`;
const LARGE = `${CONTRACT} > what does not fit arrives shortened, with the link to all of it`;
const FORGED = `${INBOUND} > forged, altered, old and early requests are refused and decide nothing`;
const REPLAYED = `${INBOUND} > a request that is sent again, and many times at once, decides once and runs nothing twice`;
const ANSWERS_TWICE = `${INBOUND} > whoever answers twice has one vote, and no second answer changes what was decided`;
const TWO_SERVERS = `${INBOUND} > answers that reach two servers at once count as if they came one after the other`;
const OTHER_TENANT = `${INBOUND} > what one tenant gave out decides nothing at another tenant, whose secrets are the same`;
const FOREIGN = `${INBOUND} > requests of another workspace, app or origin are refused and decide nothing`;
const COPIED = `${INBOUND} > what was given to another question, message or person decides nothing`;
const EDITED = `${INBOUND} > a message that somebody else edited approves nothing`;
const FORWARDED = `${INBOUND} > whoever gets a forwarded message decides as its recipient, or nothing`;
const LOST = `${INBOUND} > who is no longer an approver, or no longer known by this account, decides nothing with the message that they have, and that is journalled`;
const STALE = `${INBOUND} > an answer to a question whose arguments were changed since decides neither the old nor the new one`;
const ELSEWHERE = `${INBOUND} > a question that was decided or withdrawn elsewhere stays as it is`;
const SHOWN = `${INBOUND} > what a person is shown hides and reorders nothing`;
const ALIKE = `${INBOUND} > a name that only looks like an approver's decides nothing`;
const FITS = `${INBOUND} > what does not fit can be approved only where all of it is shown`;
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
    slack: [TWICE, ANSWERS_TWICE],
    email: [TWICE, ANSWERS_TWICE, `${MAIL_ATTACKS} > of two who use a link at once, one decides`],
    push: [TWICE],
    webhook: [TWICE, ANSWERS_TWICE],
    rooms: [TWICE],
    siem: [`${SIEM} > a second answer is not taken for the answer to the next batch`],
  },
  "a recipient who is no longer an approver": {
    slack: [
      LOST,
      `${SLACK} > whoever is no longer an approver gets no reminder, and their card is kept current`,
      `${SLACK} > whoever is no longer configured gets no reminder, and their card is kept current`,
      `${SLACK_ATTACKS} > a person who is no longer an approver decides nothing with the card that they still have`,
    ],
    email: [
      LOST,
      `${EMAIL} > whoever is no longer an approver gets no reminder, and hears what became of it`,
      `${MAIL_ATTACKS} > who is no longer an approver is not shown the question by the mail that they have`,
    ],
    push: [
      `${PUSH} > whoever is no longer an approver gets no reminder, and the notification goes when it is decided`,
    ],
    webhook: [LOST],
    rooms: NO_PEOPLE,
    siem: NO_PEOPLE,
  },
  "a decided question stops every pending reminder": {
    slack: [OVER],
    email: [OVER],
    push: [OVER],
    webhook: [OVER],
    rooms: [OVER],
    siem: NO_PEOPLE,
  },
  "two answers at once at two servers": {
    slack: [TWO_SERVERS],
    email: [TWO_SERVERS],
    push: NO_DOOR,
    webhook: [TWO_SERVERS],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a message of another tenant": {
    slack: [OTHER_TENANT],
    email: [OTHER_TENANT],
    push: NO_DOOR,
    webhook: [OTHER_TENANT],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a message that somebody else edited": {
    slack: [EDITED],
    email: "n/a: a link shows the question from the ledger, whatever the mail says",
    push: NO_DOOR,
    webhook: [COPIED],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a question that was changed or decided since": {
    slack: [STALE, ELSEWHERE],
    email: [
      STALE,
      ELSEWHERE,
      `${MAIL_ATTACKS} > a link is void once the question was changed, withdrawn, decided elsewhere, or has expired`,
    ],
    push: NO_DOOR,
    webhook: [STALE, ELSEWHERE],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "replayed and forged requests": {
    slack: [FORGED, REPLAYED],
    email: [FORGED, REPLAYED],
    push: [
      `${PUSH} > agents, and people without the scope, have no devices; what is no subscription is refused`,
    ],
    webhook: [
      FORGED,
      REPLAYED,
      `${ANSWER_ATTACKS} > a request that is sent again is answered again, and votes once`,
    ],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "the wrong workspace": {
    slack: [FOREIGN, "test/attack/slack-addresses.test.ts > of another workspace"],
    email: [FOREIGN],
    push: [`${PUSH} > a device belongs to whoever is logged in there, and only they turn it off`],
    webhook: [FOREIGN],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a button copied elsewhere": {
    slack: [COPIED],
    email: [COPIED],
    push: NO_DOOR,
    webhook: [COPIED],
    rooms: NO_DOOR,
    siem: NO_DOOR,
  },
  "a forwarded mail": {
    slack: "n/a: a forwarded message has no buttons; a copied button is refused",
    email: [FORWARDED, `${MAIL_ATTACKS} > a mail with a link says that it must not be forwarded`],
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
    slack: [LARGE, FITS, `${SLACK_ATTACKS} > %s cannot be approved here, whatever button is sent`],
    email: [LARGE, FITS],
    push: [LARGE],
    webhook: [LARGE, FITS],
    rooms: [LARGE],
    siem: [`${SIEM} > a batch that is too large is halved`],
  },
  "right-to-left and mention tricks": {
    slack: [
      HIDDEN,
      SHOWN,
      ALIKE,
      `${SLACK_ATTACKS} > what a model wrote is plain text: no mention, no markup, nothing hidden or reordered`,
    ],
    email: [
      HIDDEN,
      SHOWN,
      ALIKE,
      `${EMAIL} > no text of a stranger makes a header, a recipient, markup or a line of ours`,
    ],
    push: NO_TEXT,
    webhook: [
      ALIKE,
      `${WEBHOOK} > the body says what happened as data, without results, payloads and rights`,
    ],
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

/** Every folder with a channel. */
const FOLDERS = globSync("src/channels/*/*-channel.ts", { cwd: ROOT })
  .map((path) => path.replaceAll("\\", "/"))
  .toSorted();
const DOORS = FOLDERS.filter((path) => /\bentries\b/.test(readSource(path).text));

function nameOf(path: string): string {
  return path.split("/")[2] ?? "";
}

test("the channels, and those with an inbound door, are found by their folders", () => {
  expect(FOLDERS.map(nameOf)).toEqual(["email", "push", "room", "slack", "webhook"]);
  expect(DOORS.map(nameOf)).toEqual(["email", "slack", "webhook"]);
});

test.each(FOLDERS)("%s runs the contract suite", (path) => {
  expect(readSource(path.replace(".ts", ".test.ts")).text).toContain("test.each(channelContract)");
});

test.each(DOORS)("%s runs the contract suite of inbound doors", (path) => {
  const suite = path.replace(/[^/]+$/, "inbound.test.ts");
  expect(readSource(suite).text).toContain("test.each(inboundContract)");
});

test.each(["slack", "mail-links", "push", "webhook-answers"])(
  "the door of %s gets 10,000 requests in `npm run test:all`",
  (name) => {
    expect(readSource(`test/fuzz/${name}.test.ts`).text).toContain(
      "const REQUESTS = effort({ short: 2_500, long: 10_000 });",
    );
  },
);
