import nodemailer from "nodemailer";
import { OUT_OF_TIME, type Sent } from "../failures.ts";
import type { CheckedSettings } from "./email-options.ts";
import type { MailText } from "./mail.ts";

const TIMEOUT_MS = 10_000;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Nothing was sent: the failure came before the mail. */
const NOT_SENT: ReadonlySet<string> = new Set(["EAUTH", "ECONFIG", "EDNS", "ENOAUTH", "ETLS"]);

/** One mail to one person. */
export interface Mail extends MailText {
  readonly to: string;
  /** The same at every attempt, so that mail servers drop duplicates. */
  readonly messageId: string;
  /** The first mail of its thread. */
  readonly inReplyTo?: string;
  readonly notice: string;
}

/** Sends mails. */
export interface Mailer {
  send(mail: Mail, signal: AbortSignal): Promise<Sent>;
  /** What is wrong with the server's address or the login; nothing if it answers. */
  verify(signal: AbortSignal): Promise<string | undefined>;
}

export function createMailer({ smtp, from }: CheckedSettings): Mailer {
  const isHere = LOOPBACK.has(smtp.hostname);
  const isSecure = smtp.protocol === "smtps:";
  const transport = nodemailer.createTransport({
    host: smtp.hostname.replace(/^\[|\]$/g, ""),
    port: Number(smtp.port || (isSecure ? 465 : 587)),
    secure: isSecure,
    requireTLS: !isSecure && !isHere,
    ignoreTLS: !isSecure && isHere,
    ...(smtp.username === ""
      ? {}
      : { auth: { user: decodeURIComponent(smtp.username), pass: decodeURIComponent(smtp.password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ notice, to, inReplyTo, ...mail }, signal) {
      if (signal.aborted) return { ...OUT_OF_TIME, isUnsure: false };
      const sending = transport.sendMail({
        ...mail,
        from: { ...from },
        to: { name: "", address: to },
        textEncoding: "base64",
        ...(inReplyTo === undefined ? {} : { inReplyTo, references: inReplyTo }),
        headers: {
          "auto-submitted": "auto-generated",
          "x-auto-response-suppress": "All",
          "x-countersign-notice": notice,
        },
      });
      try {
        await orAborted(sending, signal);
        return { ok: true };
      } catch (error) {
        return failed(error, signal);
      }
    },
    async verify(signal) {
      try {
        await orAborted(transport.verify(), signal);
        return undefined;
      } catch (error) {
        return failed(error, signal).reason;
      }
    },
  };
}

// The socket is left to its own timeout.
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error("aborted"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

// The server's own words may repeat what was sent, so only its code is told.
function failed(error: unknown, signal: AbortSignal): Exclude<Sent, { readonly ok: true }> {
  const { code, responseCode, command } = error as { readonly [name: string]: unknown };
  if (signal.aborted) return { ok: false, reason: "The mail server did not answer in time.", isUnsure: true };
  const name = typeof code === "string" ? code : "no answer";
  if (typeof responseCode !== "number") {
    return {
      ok: false,
      reason: `The mail server could not be used (${name}).`,
      isUnsure: !NOT_SENT.has(name),
    };
  }
  const reason = `The mail server answered ${responseCode} (${name}).`;
  // An operator can correct a wrong password or sender. Nobody can correct a mailbox that does not exist.
  const isAboutMail = command !== "MAIL FROM" && (name === "EENVELOPE" || name === "EMESSAGE");
  const isFinal = responseCode >= 500 && isAboutMail;
  return { ok: false, reason, isUnsure: false, ...(isFinal ? { final: true } : {}) };
}
