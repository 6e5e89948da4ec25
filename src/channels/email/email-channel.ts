import { createHash } from "node:crypto";
import type { Ledger } from "../../engine/index.ts";
import type { Channel, Notice, NoticeType, Told } from "../channel.ts";
import { BEING_SENT, combinedFailures, type Failure, OUT_OF_TIME } from "../failures.ts";
import { askedAmong } from "../people.ts";
import { MessageBook, type SentMessages, subjectOf } from "../sent-messages.ts";
import { type CheckedSettings, checkSettings, type EmailSettings } from "./email-options.ts";
import { mailOf } from "./mail.ts";
import { createMailer, type Mailer } from "./send.ts";

const HASH_LENGTH = 16;
/** Notices that ask for a decision. */
const ASKING: ReadonlySet<NoticeType> = new Set([
  "confirmation.requested",
  "confirmation.reminded",
  "confirmation.escalated",
]);

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
  const { book, notice, signal } = telling;
  const { to = {} } = (await book.read(book.keyOf(subjectOf(notice.about)))) ?? {};
  const failures: Failure[] = [];
  for (const address of inTurn(addressesOf(telling, to), notice, to)) {
    const told = signal.aborted ? OUT_OF_TIME : await mailOnce(telling, address);
    if (!told.ok) failures.push(told);
  }
  return combinedFailures(failures);
}

/** Whom the notice concerns. Later ones concern those who were asked and are still configured. */
function addressesOf({ settings, notice }: Telling, to: SentMessages["to"]): readonly string[] {
  const { about, type } = notice;
  const { people, operator } = settings;
  if (!("id" in about)) return operator === undefined ? [] : [operator];
  const known = people.map(({ email }) => email).filter((email) => to[email] !== undefined);
  if (!ASKING.has(type)) return known;
  // A question that is over asks nobody; another notice says how it ended.
  if (about.status !== "requested") return [];
  const asked = askedAmong(about, people).map(({ email }) => email);
  return type === "confirmation.requested" ? asked : [...new Set([...asked, ...known])];
}

/** Those whose last attempt is longest ago come first, so that a slow one does not keep the others waiting for ever. */
function inTurn(addresses: readonly string[], notice: Notice, to: SentMessages["to"]): readonly string[] {
  const triedAt = (address: string): number => (to[`${address} ${notice.id}`] ?? to[address])?.at ?? 0;
  return addresses.toSorted((one, other) => triedAt(one) - triedAt(other));
}

/** Sends a mail that was not sent yet. If that is not known, it is sent again under the same id. */
async function mailOnce({ settings, mailer, book, notice, signal }: Telling, address: string): Promise<Told> {
  const subject = subjectOf(notice.about);
  const { claim, target, isFirst } = await claimMail(book, notice, address);
  if (claim.next === "nothing") return { ok: true };
  if (claim.next === "wait") return BEING_SENT;
  const first = `<${book.keyOf(subject)}.${hashOf(address)}@${settings.domain}>`;
  const sent = await mailer.send(
    {
      ...mailOf(notice, { isFirst }),
      to: address,
      notice: notice.id,
      ...(isFirst
        ? { messageId: first }
        : { messageId: `<${notice.id}.${hashOf(address)}@${settings.domain}>`, inReplyTo: first }),
    },
    signal,
  );
  if (sent.ok) {
    await book.note(subject, target, { claimed: claim.message, as: { ...claim.message, state: "sent" } });
    return sent;
  }
  const { isUnsure, ...failure } = sent;
  // What an earlier attempt may have sent is not unsent by this one.
  const mayHaveArrived = isUnsure || claim.next === "look";
  await book.note(subject, target, {
    claimed: claim.message,
    as: mayHaveArrived ? { ...claim.message, state: "unsure" } : "not sent",
  });
  return failure;
}

/** Claims the mail that a person gets for this notice. Somebody who has a mail already is not asked again. */
async function claimMail(
  book: MessageBook,
  { about, type, id }: Notice,
  address: string,
): ReturnType<MessageBook["claimInThread"]> {
  const subject = subjectOf(about);
  if (type !== "confirmation.requested") return book.claimInThread(subject, address, id);
  return { claim: await book.claim(subject, address), target: address, isFirst: true };
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
    const text = { subject: "Test message from Countersign", text: `${words}\n`, html: `<p>${words}</p>` };
    const sent = await mailer.send({ ...text, to, messageId, notice: "test" }, signal);
    if (!sent.ok) failures.push({ ok: false, final: true, reason: `${to}: ${sent.reason}` });
  }
  return combinedFailures(failures);
}
