import { createHash } from "node:crypto";
import { type Ledger, MessageBook, type Principal } from "../../engine/index.ts";
import { asks } from "../asks.ts";
import type { Channel, Notice, Told } from "../channel.ts";
import { type Digest, stillWaiting } from "../digest.ts";
import { combinedFailures, type Failure, type Sent } from "../failures.ts";
import { askedAmong, toChannelPrincipal } from "../people.ts";
import { subjectOf } from "../subject.ts";
import { tellPeople } from "../tell-people.ts";
import { NO_ADDRESS, testRoute } from "../test-route.ts";
import { decisionEntries } from "./decision-entries.ts";
import { DecisionLinks } from "./decision-links.ts";
import { digestMail } from "./digest-mail.ts";
import {
  type CheckedSettings,
  checkSettings,
  type EmailPerson,
  type EmailSettings,
} from "./email-options.ts";
import { mailOf } from "./mail.ts";
import { createMailer, type Mailer } from "./send.ts";

const HASH_LENGTH = 16;

/** Options of {@link createEmailChannel}. */
export interface EmailOptions extends EmailSettings {
  /** The ledger, which stores which mails were sent. */
  readonly ledger: Pick<Ledger, "items" | "now" | "confirmations" | "loadAll">;
  /** Distinguishes several mail channels. */
  readonly name?: string;
}

/**
 * Asks the people whom a rule names by mail, and tells those who were asked how it ended, in the same thread. The link
 * opens the card, where they log in and decide. Where the rules allow it and `publicUrl` is given, a second link decides
 * without a login, once, at `/channels/email/…`; opening it decides nothing. Throws `invalid-option`.
 */
export function createEmailChannel(options: EmailOptions): Channel {
  const { ledger, name = "email", ...given } = options;
  const settings = checkSettings(given);
  const mailer = createMailer(settings);
  const book = new MessageBook(ledger.items, name, () => ledger.now);
  const links = new DecisionLinks(ledger, name);
  const linkTo = linksAt(settings.publicUrl, name);
  const { people } = settings;
  const mailing: Mailing = { settings, mailer, book, ledger, channel: name, links, linkTo };
  const sendTest = (signal: AbortSignal, only?: string): Promise<Told> =>
    sendTests({ settings, mailer }, signal, only);
  return {
    name,
    tell: (notice, signal) => tellByMail(mailing, notice, signal),
    entries: decisionEntries({ links, people }),
    check: async (signal) => {
      const fault = await mailer.verify(signal);
      return fault === undefined ? [] : [fault];
    },
    sendTest,
    routes: { test: testRoute({ ledger, name }, sendTest) },
  };
}

interface Mailing {
  readonly settings: CheckedSettings;
  readonly mailer: Mailer;
  readonly book: MessageBook;
  readonly ledger: EmailOptions["ledger"];
  readonly channel: string;
  readonly links: DecisionLinks;
  /** Where a link that decides leads; undefined if mails have none. */
  readonly linkTo: ((link: string) => string) | undefined;
}

/** The secret is behind a #, so that no request and no referrer has it. */
function linksAt(publicUrl: URL | undefined, name: string): Mailing["linkTo"] {
  if (publicUrl === undefined) return undefined;
  const page = `${publicUrl.href.replace(/\/+$/, "")}/channels/${name}/link`;
  return (link) => `${page}#${link}`;
}

function tellByMail(mailing: Mailing, notice: Notice, signal: AbortSignal): Promise<Told> {
  const { settings, mailer, book } = mailing;
  const { about, link } = notice;
  const { people, operator, domain } = settings;
  const asked = "id" in about ? askedAmong(about, people, notice.known) : [];
  const recipients = {
    all: people.map(({ email }) => email),
    asked: asked.map(({ email }) => email),
    operators: operator === undefined ? [] : [operator],
  };
  const send = async (address: string, { isFirst }: { readonly isFirst: boolean }): Promise<Sent> => {
    const person = asked.find(({ email }) => email === address);
    const decision = person === undefined ? undefined : await decisionLink(mailing, notice, person);
    const first = `<${book.keyOf(subjectOf(about))}.${hashOf(address)}@${domain}>`;
    const reply = { messageId: `<${notice.id}.${hashOf(address)}@${domain}>`, inReplyTo: first };
    const mail = { ...mailOf(about, { isFirst, link, decision }), to: address, notice: notice.id };
    return mailer.send({ ...mail, ...(isFirst ? { messageId: first } : reply) }, signal);
  };
  const sendDigest = async (address: string, digest: Digest): Promise<Sent> => {
    const waiting = await stillWaiting(mailing.ledger, digest);
    if (waiting.length === 0) return { ok: true };
    const messageId = `<${book.keyOf(digest.subject)}.${hashOf(address)}@${domain}>`;
    const mail = digestMail(waiting, notice.linkFor);
    return mailer.send({ ...mail, to: address, messageId, notice: book.keyOf(digest.subject) }, signal);
  };
  const personOf = (address: string): Principal | undefined => {
    const person = people.find(({ email }) => email === address);
    return person === undefined ? undefined : toChannelPrincipal(person);
  };
  return tellPeople({ ...mailing, notice, signal, recipients, personOf, send, sendDigest });
}

/** A new link that decides, for a person whom the rule asks; undefined if something that asks needs a login. */
async function decisionLink(
  { links, linkTo }: Mailing,
  notice: Notice,
  person: EmailPerson,
): Promise<string | undefined> {
  const { about } = notice;
  if (linkTo === undefined || !("id" in about) || about.byMail !== true || !asks(notice)) return undefined;
  const link = await links.create(about, person);
  return link === undefined ? undefined : linkTo(link);
}

// An id in a mail must not say whose address it is.
function hashOf(address: string): string {
  return createHash("sha256").update(address.toLowerCase()).digest("hex").slice(0, HASH_LENGTH);
}

async function sendTests(
  { settings, mailer }: Pick<Mailing, "settings" | "mailer">,
  signal: AbortSignal,
  only: string | undefined,
): Promise<Told> {
  const { people, operator, domain } = settings;
  const told = people.filter(({ id }) => only === undefined || id === only).map(({ email }) => email);
  const operators = operator === undefined || only !== undefined ? [] : [operator];
  const targets = new Set([...told, ...operators]);
  if (targets.size === 0) return NO_ADDRESS;
  const words = "This is a test. Nothing waits for you, and there is nothing to decide.";
  const failures: Failure[] = [];
  for (const to of targets) {
    const messageId = `<test.${Date.now()}.${hashOf(to)}@${domain}>`;
    const text = { subject: "Test message from Countersign", text: `${words}\n`, html: `<p>${words}</p>` };
    const sent = await mailer.send({ ...text, to, messageId, notice: "test" }, signal);
    if (!sent.ok) failures.push({ ok: false, final: true, reason: `${to}: ${sent.reason}` });
  }
  return combinedFailures(failures);
}
