import { createHash } from "node:crypto";
import { type Ledger, MessageBook } from "../../engine/index.ts";
import type { Channel, Notice, Told } from "../channel.ts";
import { combinedFailures, type Failure, type Sent } from "../failures.ts";
import { askedAmong } from "../people.ts";
import { subjectOf } from "../subject.ts";
import { tellPeople } from "../tell-people.ts";
import { type CheckedSettings, checkSettings, type EmailSettings } from "./email-options.ts";
import { mailOf } from "./mail.ts";
import { createMailer, type Mailer } from "./send.ts";

const HASH_LENGTH = 16;

/** Options of {@link createEmailChannel}. */
export interface EmailOptions extends EmailSettings {
  /** The ledger, which stores which mails were sent. */
  readonly ledger: Pick<Ledger, "items" | "now">;
  /** Distinguishes several mail channels. */
  readonly name?: string;
}

/**
 * Asks the people whom a rule names by mail, and tells those who were asked how it ended, in the same thread. The link
 * opens the card, where they log in and decide: no mail decides anything. Throws `invalid-option`.
 */
export function createEmailChannel(options: EmailOptions): Channel {
  const { ledger, name = "email", ...given } = options;
  const settings = checkSettings(given);
  const mailer = createMailer(settings);
  const book = new MessageBook(ledger.items, name, () => ledger.now);
  return {
    name,
    tell: (notice, signal) => tellByMail({ settings, mailer, book }, notice, signal),
    check: async (signal) => {
      const fault = await mailer.verify(signal);
      return fault === undefined ? [] : [fault];
    },
    sendTest: (signal) => sendTests({ settings, mailer }, signal),
  };
}

interface Mailing {
  readonly settings: CheckedSettings;
  readonly mailer: Mailer;
  readonly book: MessageBook;
}

function tellByMail(mailing: Mailing, notice: Notice, signal: AbortSignal): Promise<Told> {
  const { settings, mailer, book } = mailing;
  const { about } = notice;
  const { people, operator, domain } = settings;
  const recipients = {
    all: people.map(({ email }) => email),
    asked: "id" in about ? askedAmong(about, people, notice.known).map(({ email }) => email) : [],
    operators: operator === undefined ? [] : [operator],
  };
  const send = (address: string, { isFirst }: { readonly isFirst: boolean }): Promise<Sent> => {
    const first = `<${book.keyOf(subjectOf(about))}.${hashOf(address)}@${domain}>`;
    const reply = { messageId: `<${notice.id}.${hashOf(address)}@${domain}>`, inReplyTo: first };
    const mail = { ...mailOf(notice, { isFirst }), to: address, notice: notice.id };
    return mailer.send({ ...mail, ...(isFirst ? { messageId: first } : reply) }, signal);
  };
  const personOf = (address: string): string | undefined =>
    people.find(({ email }) => email === address)?.id ?? (address === operator ? "operator" : undefined);
  return tellPeople({ book, notice, signal, recipients, personOf, send });
}

// An id in a mail must not say whose address it is.
function hashOf(address: string): string {
  return createHash("sha256").update(address.toLowerCase()).digest("hex").slice(0, HASH_LENGTH);
}

async function sendTests(
  { settings, mailer }: Pick<Mailing, "settings" | "mailer">,
  signal: AbortSignal,
): Promise<Told> {
  const { people, operator, domain } = settings;
  const words = "This is a test. Nothing waits for you, and there is nothing to decide.";
  const failures: Failure[] = [];
  for (const to of new Set([
    ...people.map(({ email }) => email),
    ...(operator === undefined ? [] : [operator]),
  ])) {
    const messageId = `<test.${Date.now()}.${hashOf(to)}@${domain}>`;
    const text = { subject: "Test message from Countersign", text: `${words}\n`, html: `<p>${words}</p>` };
    const sent = await mailer.send({ ...text, to, messageId, notice: "test" }, signal);
    if (!sent.ok) failures.push({ ok: false, final: true, reason: `${to}: ${sent.reason}` });
  }
  return combinedFailures(failures);
}
