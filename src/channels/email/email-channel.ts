import { createHash } from "node:crypto";
import type { Ledger } from "../../engine/index.ts";
import type { Channel, Notice, Told } from "../channel.ts";
import { combinedFailures, type Failure } from "../failures.ts";
import { askedAmong } from "../people.ts";
import { MessageBook, subjectOf } from "../sent-messages.ts";
import { type CheckedSettings, checkSettings, type EmailSettings } from "./email-options.ts";
import { mailOf } from "./mail.ts";
import { createMailer, type Mailer } from "./send.ts";

const HASH_LENGTH = 16;

/** Options of {@link createEmailChannel}. */
export interface EmailOptions extends EmailSettings {
  /** Where it is noted which mails were sent. */
  readonly ledger: Pick<Ledger, "items" | "now">;
  /** Distinguishes several mail channels. */
  readonly name?: string;
}

/**
 * Asks the people whom a rule names by mail, and tells those who were asked what became of it, in the same thread. The
 * link opens the card, where they log in and decide: no mail decides anything. Throws `invalid-option`.
 */
export function createEmailChannel(options: EmailOptions): Channel {
  const { ledger, name = "email", ...given } = options;
  const settings = checkSettings(given);
  const mailer = createMailer(settings);
  const book = new MessageBook(ledger.items, name, () => ledger.now);
  return {
    name,
    tell: (notice, signal) => tellByMail({ settings, mailer, book, notice, signal }),
    check: async (signal) => {
      const fault = await mailer.verify(signal);
      return fault === undefined ? [] : [fault];
    },
    sendTest: (signal) => sendTests({ settings, mailer }, signal),
  };
}

interface Telling {
  readonly settings: CheckedSettings;
  readonly mailer: Mailer;
  readonly book: MessageBook;
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

async function tellByMail(telling: Telling): Promise<Told> {
  const failures: Failure[] = [];
  for (const address of await addressesOf(telling)) {
    const told = await mailOnce(telling, address);
    if (!told.ok) failures.push(told);
  }
  return combinedFailures(failures);
}

/** Whom a question asks; later, those who were asked and are still configured. */
async function addressesOf({ settings, book, notice }: Telling): Promise<readonly string[]> {
  const { about, type } = notice;
  const { people, operator } = settings;
  if (!("id" in about)) return operator === undefined ? [] : [operator];
  if (type === "confirmation.requested") {
    return about.status === "requested" ? askedAmong(about, people).map(({ email }) => email) : [];
  }
  const { to = {} } = (await book.read(book.keyOf(subjectOf(about)))) ?? {};
  return people.map(({ email }) => email).filter((email) => to[email] !== undefined);
}

/** Sends a mail that was not sent yet. If that is not known, it is sent again under the same id. */
async function mailOnce({ settings, mailer, book, notice, signal }: Telling, address: string): Promise<Told> {
  const { about, type } = notice;
  const subject = subjectOf(about);
  const isFirst = type === "confirmation.requested";
  const target = isFirst ? address : `${address} ${notice.id}`;
  const claim = await book.claim(subject, target);
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "wait")
    return { ok: false, reason: "Another process is sending it.", retryAfterMs: claim.forMs };
  const first = `<${book.keyOf(subject)}.${hashOf(address)}@${settings.domain}>`;
  const sent = await mailer.send(
    {
      ...mailOf(notice),
      to: address,
      notice: notice.id,
      ...(isFirst
        ? { messageId: first }
        : { messageId: `<${notice.id}.${hashOf(address)}@${settings.domain}>`, inReplyTo: first }),
    },
    signal,
  );
  if (sent.ok) {
    await book.note(subject, target, { ...claim.message, state: "sent" });
    return sent;
  }
  const { isUnsure, ...failure } = sent;
  await book.note(subject, target, isUnsure ? { ...claim.message, state: "unsure" } : undefined);
  return failure;
}

// An id in a mail must not say whose address it is.
function hashOf(address: string): string {
  return createHash("sha256").update(address.toLowerCase()).digest("hex").slice(0, HASH_LENGTH);
}

async function sendTests(
  { settings, mailer }: Pick<Telling, "settings" | "mailer">,
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
    const text = { subject: "Countersign reaches you here", text: `${words}\n`, html: `<p>${words}</p>` };
    const sent = await mailer.send({ ...text, to, messageId, notice: "test" }, signal);
    if (!sent.ok) failures.push({ ok: false, final: true, reason: `${to}: ${sent.reason}` });
  }
  return combinedFailures(failures);
}
